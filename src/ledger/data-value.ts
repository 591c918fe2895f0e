/**
 * The value of a data entry in the tables `data` and `contractData`.
 *
 *   kind 1 | integer 0: i64; boolean 1: one byte; binary 2, string 3: length 4 and bytes
 */
import { type Codec, CodecError } from '../codec/codec.ts';
import { bool, i64, text32 } from '../codec/primitives.ts';
import { sized } from './values.ts';

export type DataValue =
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'binary'; readonly value: Uint8Array }
  | { readonly type: 'string'; readonly value: string };

const KINDS = ['integer', 'boolean', 'binary', 'string'] as const;

const STRING_BYTES_MAX = 2 ** 24;

// Each codec receives only values of its own kind.
const values = {
  integer: i64,
  boolean: bool,
  binary: sized,
  string: text32(STRING_BYTES_MAX),
} as unknown as Readonly<Record<DataValue['type'], Codec<DataValue['value']>>>;

export const dataValue: Codec<DataValue> = {
  write(out, { type, value }) {
    out.u8(KINDS.indexOf(type));
    values[type].write(out, value);
  },
  read(src) {
    const type = KINDS[src.u8()];
    if (type === undefined) throw new CodecError('bytes', 'unknown kind of a data value');
    return { type, value: values[type].read(src) } as DataValue;
  },
  toJson: ({ type, value }, scheme) => ({ type, value: values[type].toJson(value, scheme) }),
  fromJson: () => {
    throw new CodecError('', 'a stored value is not read from JSON');
  },
  schema: {},
};
