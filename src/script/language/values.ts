/**
 * What a script computes with (docs/protocol/scripts.md#values). A case object is a named record;
 * `unit` and the two sides of an order are case objects without fields.
 */
import { ExpectedError } from '../../base/faults/expected-error.ts';

export interface CaseObject {
  readonly type: string;
  readonly fields: ReadonlyMap<string, Value>;
}

export type Value = bigint | string | boolean | Uint8Array | CaseObject | readonly Value[];

/** The refusal to go on; its text is part of the answer to a client. */
export class EvaluationFailure extends ExpectedError {
  override name = 'EvaluationFailure';

  /** A script can cut a character into halves. Strict readers of JSON refuse an answer with one. */
  constructor(text: string) {
    super(text.toWellFormed());
  }
}

const NO_FIELDS: ReadonlyMap<string, Value> = new Map();

export const UNIT: CaseObject = { type: 'Unit', fields: NO_FIELDS };
export const BUY: CaseObject = { type: 'Buy', fields: NO_FIELDS };
export const SELL: CaseObject = { type: 'Sell', fields: NO_FIELDS };

export function caseObject(type: string, fields: Readonly<Record<string, Value>>): CaseObject {
  return { type, fields: new Map(Object.entries(fields)) };
}

export const isBytes = (value: Value): value is Uint8Array => value instanceof Uint8Array;
export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

export const isObject = (value: Value): value is CaseObject =>
  typeof value === 'object' && !isBytes(value) && !isList(value);

/** The name by which `match` distinguishes values. */
export function kindOf(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return 'Int';
    case 'string':
      return 'String';
    case 'boolean':
      return 'Boolean';
    default:
      if (isBytes(value)) return 'ByteVector';
      return isList(value) ? 'List' : value.type;
  }
}
