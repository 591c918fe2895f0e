/**
 * Roles, and the operations on them (transactions.md#proof-style).
 *
 *   role     one byte, 1–10
 *   opType   61 'a' add | 72 'r' remove
 *   due      00 and eight zeros | 01 and a timestamp 8
 */
import { apiError } from '../../base/errors.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { millis, mismatch } from '../../codec/primitives.ts';
import { nullable } from '../../codec/struct.ts';
import { shown } from '../../codec/text.ts';
import { ROLES, type Role } from '../../ledger/roles.ts';

export { ROLES, type Role } from '../../ledger/roles.ts';

export type OpType = 'add' | 'remove';

/** The number of a role: its byte, and its key in the ledger. */
export const numberOf = (value: Role): number => ROLES.indexOf(value) + 1;

export const role: Codec<Role> = {
  write: (out, value) => out.u8(numberOf(value)),
  read(src) {
    const byte = src.u8();
    const value = ROLES[byte - 1];
    if (value === undefined) throw unknownRole('bytes', String(byte));
    return value;
  },
  toJson: (value) => value,
  fromJson(json, path) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    const value = ROLES.find((name) => name === json);
    if (value === undefined) throw unknownRole(path, json);
    return value;
  },
  schema: { enum: ROLES },
};

function unknownRole(path: string, name: string): CodecError {
  const reason = `Permission.fromStr failure: unknown role name '${shown(name)}'`;
  return new CodecError(path, reason, apiError('Invalid', reason));
}

const ADD = 0x61;
const REMOVE = 0x72;

export const opType: Codec<OpType> = {
  write: (out, value) => out.u8(value === 'add' ? ADD : REMOVE),
  read(src) {
    const byte = src.u8();
    if (byte === ADD) return 'add';
    if (byte === REMOVE) return 'remove';
    throw unknownOperation('bytes', String(byte));
  },
  toJson: (value) => value,
  fromJson(json, path) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    const value = json.toLowerCase();
    if (value === 'add' || value === 'remove') return value;
    throw unknownOperation(path, json);
  },
  schema: { enum: ['add', 'remove'] },
};

function unknownOperation(path: string, name: string): CodecError {
  const reason = `OpType.fromStr failure: unknown operation string ${shown(name)}`;
  return new CodecError(path, reason, apiError('Invalid', reason));
}

/** When a role ends; undefined: never. Always nine bytes. */
export const dueTimestamp: Codec<number | undefined> = {
  optional: true,
  write(out, value) {
    out.u8(value === undefined ? 0 : 1);
    out.u53(value ?? 0);
  },
  read(src) {
    const flag = src.u8();
    const value = src.u53();
    if (flag === 1) return value;
    if (flag === 0 && value === 0) return undefined;
    throw new CodecError('bytes', 'malformed due date');
  },
  toJson: (value) => value ?? null,
  fromJson: (json, path, scheme) =>
    json === undefined || json === null ? undefined : millis.fromJson(json, path, scheme),
  schema: nullable(millis.schema),
};
