/** Whether the value of an argument has the type of its parameter. */
import { BOOLEAN, BYTES, INT, members, STRING, type Type } from '../language/types.ts';
import { isBytes, isList, isObject, type Value } from '../language/values.ts';
import type { Parameter } from './functions.ts';

export type Check = (value: Value) => boolean;

export const anything: Check = () => true;

/** A binary may pass values of any type, so natives check what they get. */
export function checkOf(parameter: Parameter): Check {
  switch (parameter.kind) {
    case 'T':
    case 'T|Unit':
      return anything;
    case 'LIST(T)':
    case 'list':
      return isList;
    default:
      return typeCheck(parameter);
  }
}

function typeCheck(type: Type): Check {
  if (type === INT) return (value) => typeof value === 'bigint';
  if (type === STRING) return (value) => typeof value === 'string';
  if (type === BOOLEAN) return (value) => typeof value === 'boolean';
  if (type === BYTES) return isBytes;
  if (type.kind === 'case') return (value) => isObject(value) && value.type === type.name;
  const checks = members(type).map(typeCheck);
  return (value) => checks.some((check) => check(value));
}
