/**
 * Data entries of type 12 and parameters and results of contracts (transactions.md#data-entries).
 *
 *   entry      key length 2 | key | kind 1 | value
 *   integer 0  i64      boolean 1  one byte
 *   binary  2  length 2 (type 12) or 4 (contracts) | bytes
 *   string  3  length 2 (type 12) or 4 (contracts) | UTF-8
 */
import { apiError, type Refusal } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import {
  bool,
  bytes16,
  bytes32,
  i64,
  integerFromJson,
  L2_MAX,
  mismatch,
  type Refuse,
  text16,
  text32,
} from '../../codec/primitives.ts';
import { list16 } from '../../codec/struct.ts';
import { base64, shown } from '../../codec/text.ts';
import { CONTRACT_TX_BYTES_MAX, EXECUTED_TX_BYTES_MAX, mostItems } from '../size.ts';

export type Entry =
  | { readonly key: string; readonly type: 'integer'; readonly value: bigint }
  | { readonly key: string; readonly type: 'boolean'; readonly value: boolean }
  | { readonly key: string; readonly type: 'binary'; readonly value: Uint8Array }
  | { readonly key: string; readonly type: 'string'; readonly value: string };

type Kind = Entry['type'];

export const KEY_CHARS_MAX = 100;
const DATA_ENTRIES_MAX = 100;
/** A key of one character, a kind and a boolean. */
const ENTRY_BYTES_MIN = 2 + 1 + 1 + 1;

const tooBig: Refuse = (reason) => apiError('TooBigSequence', reason);
const key = text16(L2_MAX, tooBig);
const KINDS: readonly Kind[] = ['integer', 'boolean', 'binary', 'string'];

/** Entries whose binary and string values have lengths of two bytes. */
const dataEntry = entry(bytes16(L2_MAX, base64, tooBig), text16(L2_MAX, tooBig));
/** Entries whose binary and string values have lengths of four bytes. */
const contractEntry = entry(
  bytes32(EXECUTED_TX_BYTES_MAX, base64, tooBig),
  text32(EXECUTED_TX_BYTES_MAX, tooBig),
);

/** The list of type 12: at most 100 entries, keys unique. */
export const dataEntries = entryList(
  list16(dataEntry, DATA_ENTRIES_MAX),
  'Empty key found',
  'Duplicate keys found',
);

export const params = entryList(
  contractEntries(mostItems(ENTRY_BYTES_MIN, CONTRACT_TX_BYTES_MAX)),
  'Param with empty key was found',
  'Params with duplicate keys were found',
);

const EMPTY_RESULT = 'Result with empty key was found';
const DUPLICATE_RESULTS = 'Results with duplicate keys were found';

export const results = entryList(contractEntries(L2_MAX), EMPTY_RESULT, DUPLICATE_RESULTS);

/** Why these cannot be the results of a contract. */
export const resultsProblem = (items: readonly Entry[]): Refusal | undefined =>
  problemOf(items, EMPTY_RESULT, DUPLICATE_RESULTS);

function contractEntries(max: number): Codec<readonly Entry[]> {
  return { ...list16(contractEntry, max), itemBytesMin: ENTRY_BYTES_MIN };
}

function entry(binary: Codec<Uint8Array>, string: Codec<string>): Codec<Entry> {
  const values: Readonly<Record<Kind, Codec<Entry['value']>>> = {
    integer: i64 as Codec<Entry['value']>,
    boolean: bool as Codec<Entry['value']>,
    binary: binary as Codec<Entry['value']>,
    string: string as Codec<Entry['value']>,
  };
  return {
    write(out, value) {
      key.write(out, value.key);
      out.u8(KINDS.indexOf(value.type));
      values[value.type].write(out, value.value);
    },
    read(src) {
      const name = key.read(src);
      const byte = src.u8();
      const type = KINDS[byte];
      if (type === undefined) throw new CodecError('bytes', `unknown type ${byte}`);
      return { key: name, type, value: values[type].read(src) } as Entry;
    },
    toJson: (value, scheme) => ({
      key: value.key,
      type: value.type,
      value: values[value.type].toJson(value.value, scheme),
    }),
    fromJson(json, path, scheme) {
      if (!isObject(json)) throw mismatch(path, json, 'jsobject');
      if (typeof json['key'] !== 'string') throw new CodecError(`${path}.key`, 'key is missing');
      const type = json['type'];
      if (typeof type !== 'string') throw new CodecError(`${path}.type`, 'type is missing');
      if (!KINDS.includes(type as Kind)) {
        throw new CodecError(`${path}.type`, `unknown type ${shown(type)}`);
      }
      const name = key.fromJson(json['key'], `${path}.key`, scheme);
      return { key: name, type, value: valueFromJson(json['value'], type as Kind) } as Entry;

      function valueFromJson(value: unknown, kind: Kind): unknown {
        const at = `${path}.value`;
        const wrong = (): CodecError =>
          new CodecError(
            at,
            `value is missing or is not ${kind === 'integer' ? 'an' : 'a'} ${kind}`,
          );
        if (kind === 'boolean' ? typeof value !== 'boolean' : value === undefined) throw wrong();
        if (kind === 'integer') {
          try {
            return integerFromJson(value, at);
          } catch {
            throw wrong();
          }
        }
        if (kind !== 'boolean' && typeof value !== 'string') throw wrong();
        return values[kind].fromJson(value, at, scheme);
      }
    },
    schema: {
      type: 'object',
      properties: {
        key: { type: 'string', maxLength: KEY_CHARS_MAX },
        type: { enum: KINDS },
        value: { description: 'as type says; binary as base64:…' },
      },
      required: ['key', 'type', 'value'],
    },
  };
}

function problemOf(
  items: readonly Entry[],
  emptyKey: string,
  duplicateKeys: string,
): Refusal | undefined {
  const seen = new Set<string>();
  for (const { key: name } of items) {
    if (name.length === 0) return apiError('Invalid', emptyKey);
    if (name.length > KEY_CHARS_MAX) return tooBig(`key of ${name.length} characters`, name);
    seen.add(name);
  }
  return seen.size < items.length ? apiError('Invalid', duplicateKeys) : undefined;
}

function entryList(
  inner: Codec<readonly Entry[]>,
  emptyKey: string,
  duplicateKeys: string,
): Codec<readonly Entry[]> {
  const guard = (items: readonly Entry[], path: string): readonly Entry[] => {
    const api = problemOf(items, emptyKey, duplicateKeys);
    if (api !== undefined) throw new CodecError(path, api.message, api);
    return items;
  };
  return {
    ...inner,
    read: (src) => guard(inner.read(src), 'bytes'),
    fromJson: (json, path, scheme) => guard(inner.fromJson(json, path, scheme), path),
  };
}
