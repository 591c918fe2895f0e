/** Numbers, booleans, byte strings and texts (transactions.md, conventions). */

import { strictDecoder } from '../base/bytes.ts';
import { apiError, type Refusal } from '../base/errors.ts';
import { I64_MAX, I64_MIN } from '../base/int.ts';
import { integer } from '../base/json/json.ts';
import {
  type ChainScheme,
  type Codec,
  CodecError,
  type JsonSchema,
  type Reader,
  type Writer,
} from './codec.ts';

/** Other implementations read L2 lengths as signed integers, so no length is above this. */
export const L2_MAX = 32767;

const missing = (json: unknown): boolean => json === undefined || json === null;

/** The reason for a wrong JSON kind, as clients know it (rest.md#errors). */
export function mismatch(path: string, json: unknown, expected: string): CodecError {
  return new CodecError(path, missing(json) ? 'error.path.missing' : `error.expected.${expected}`);
}

function smallInteger(bytes: 1 | 2 | 4, signed: boolean, kind: string): Codec<number> {
  const bits = bytes * 8;
  const max = 2 ** (signed ? bits - 1 : bits) - 1;
  const min = signed ? -(2 ** (bits - 1)) : 0;
  const read = (src: Reader): number => {
    if (bytes === 1) return src.u8();
    if (bytes === 2) return signed ? (src.u16() << 16) >> 16 : src.u16();
    return signed ? src.i32() : src.u32();
  };
  return {
    write: (out, v) =>
      bytes === 1 ? out.u8(v & 0xff) : bytes === 2 ? out.u16(v & 0xffff) : out.i32(v | 0),
    read,
    toJson: (v) => v,
    print: (src) => `${read(src)}`,
    fromJson(json, path) {
      const value = typeof json === 'string' && /^-?\d+$/.test(json) ? Number(json) : json;
      if (typeof value !== 'number') throw mismatch(path, json, 'jsnumber');
      if (!Number.isInteger(value) || value < min || value > max) throw mismatch(path, json, kind);
      return value;
    },
    schema: { type: 'integer', minimum: min, maximum: max },
  };
}

export const u8 = smallInteger(1, false, 'byte');
export const u16 = smallInteger(2, false, 'int');
export const i32 = smallInteger(4, true, 'int');
export const u32 = smallInteger(4, false, 'int');

/** An exact integer from JSON: a number that is exact, a bigint or a decimal string. */
export function integerFromJson(json: unknown, path: string): bigint {
  if (typeof json === 'number') {
    // Beyond 2^53 it may be the neighbour of what was written, as of 9.007199254740993e15.
    if (!Number.isSafeInteger(json)) throw mismatch(path, json, 'long');
    return BigInt(json);
  }
  if (typeof json === 'bigint') return inRange(json, path);
  // Twenty characters hold every i64; longer texts are refused before they are converted.
  if (typeof json === 'string' && json.length <= 20 && /^-?\d+$/.test(json)) {
    return inRange(BigInt(json), path);
  }
  throw mismatch(path, json, 'jsnumber');
}

function inRange(value: bigint, path: string): bigint {
  if (value < I64_MIN || value > I64_MAX) throw new CodecError(path, 'error.expected.long');
  return value;
}

/** Signed 64-bit: amounts, fees, quantities. */
export const i64: Codec<bigint> = {
  write: (out, v) => out.i64(v),
  read: (src) => src.i64(),
  toJson: (v) => integer(v),
  print(src) {
    const high = src.i32();
    const low = src.u32();
    const value = high * 0x1_0000_0000 + low;
    // Most amounts are exact as a number, which is quicker than a bigint.
    return Number.isSafeInteger(value) ? `${value}` : `${(BigInt(high) << 32n) + BigInt(low)}`;
  },
  fromJson: integerFromJson,
  schema: { type: 'integer', format: 'int64' },
};

/** Milliseconds since 1970 in eight bytes: a non-negative integer below 2^53. */
export const millis: Codec<number> = {
  write: (out, v) => out.u53(v),
  read: (src) => src.u53(),
  toJson: (v) => v,
  print: (src) => `${src.u53()}`,
  fromJson(json, path) {
    const value = integerFromJson(json, path);
    if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new CodecError(path, 'error.expected.timestamp');
    }
    return Number(value);
  },
  schema: { type: 'integer', format: 'int64', minimum: 0, description: 'ms since 1970 UTC' },
};

/** One byte, 0 or 1. Any other byte is refused, so that re-serialising gives the same bytes. */
export const bool: Codec<boolean> = {
  write: (out, v) => out.u8(v ? 1 : 0),
  read(src) {
    const byte = src.u8();
    if (byte > 1) throw new CodecError('bytes', `${byte} is not a boolean`);
    return byte === 1;
  },
  toJson: (v) => v,
  print: (src) => (src.u8() === 1 ? 'true' : 'false'),
  fromJson(json, path) {
    if (typeof json !== 'boolean') throw mismatch(path, json, 'jsboolean');
    return json;
  },
  schema: { type: 'boolean' },
};

/** The form of a byte string in JSON. */
export interface TextForm {
  /** A text without characters that JSON escapes. */
  encode(bytes: Uint8Array): string;
  /**
   * Throws TextTooLong, before any work, for a text that must decode to more than `maxBytes`.
   * Throws another error on bad text; its message is the reason.
   */
  decode(text: string, maxBytes: number): Uint8Array;
  readonly schema: JsonSchema;
}

/** A text that holds more bytes than its field may. */
export class TextTooLong extends Error {
  override name = 'TextTooLong';

  constructor(maxBytes: number) {
    super(`longer than ${maxBytes} bytes`);
  }
}

/** Makes the refusal of a text from the reason and the text. */
export type Refuse = (reason: string, text: string) => Refusal;

const invalid: Refuse = (reason) => apiError('Invalid', reason);

interface Limits {
  readonly min: number;
  readonly max: number;
  readonly badText: Refuse;
  readonly wrongSize: Refuse;
}

function bytesFromJson(json: unknown, path: string, form: TextForm, limits: Limits): Uint8Array {
  if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
  const { min, max, badText, wrongSize } = limits;
  let value: Uint8Array;
  try {
    value = form.decode(json, max);
  } catch (cause) {
    const reason = (cause as Error).message;
    const refuse = cause instanceof TextTooLong ? wrongSize : badText;
    throw new CodecError(path, reason, refuse(reason, json));
  }
  if (value.length >= min && value.length <= max) return value;
  const reason = min === max ? `expected ${max} bytes` : `longer than ${max} bytes`;
  throw new CodecError(path, reason, wrongSize(reason, json));
}

/** Exactly `count` bytes. */
export function bytes(count: number, form: TextForm, refuse: Refuse = invalid): Codec<Uint8Array> {
  const limits = { min: count, max: count, badText: refuse, wrongSize: refuse };
  return {
    write: (out, v) => out.bytes(v),
    read: (src) => src.bytes(count),
    toJson: (v) => form.encode(v),
    print: (src) => `"${form.encode(src.bytes(count))}"`,
    fromJson: (json, path) => bytesFromJson(json, path, form, limits),
    schema: form.schema,
  };
}

function overlong(path: string, max: number, refuse: Refuse, json: unknown): CodecError {
  const reason = `longer than ${max} bytes`;
  return new CodecError(path, reason, refuse(reason, json as string));
}

/** How the length of the following bytes is written. */
interface Length {
  write(out: Writer, length: number): void;
  /** Throws CodecError on a length over `max`. */
  read(src: Reader, max: number): number;
}

function bounded(length: number, max: number): number {
  if (length < 0 || length > max) {
    throw new CodecError('bytes', `length ${length} is over ${max}`);
  }
  return length;
}

const LENGTH_2: Length = {
  write: (out, length) => out.u16(length),
  read: (src, max) => bounded(src.u16(), Math.min(max, L2_MAX)),
};

const LENGTH_4: Length = {
  write: (out, length) => out.i32(length),
  read: (src, max) => bounded(src.i32(), max),
};

/** L2: u16 length and at most `max` bytes. */
export const bytes16 = (max: number, form: TextForm, tooLong?: Refuse): Codec<Uint8Array> =>
  sizedBytes(LENGTH_2, max, form, tooLong);

/** L4: i32 length and at most `max` bytes. */
export const bytes32 = (max: number, form: TextForm, tooLong?: Refuse): Codec<Uint8Array> =>
  sizedBytes(LENGTH_4, max, form, tooLong);

function sizedBytes(
  length: Length,
  max: number,
  form: TextForm,
  tooLong: Refuse = invalid,
): Codec<Uint8Array> {
  const limits = { min: 0, max, badText: invalid, wrongSize: tooLong };
  return {
    write(out, v) {
      length.write(out, v.length);
      out.bytes(v);
    },
    read: (src) => src.bytes(length.read(src, max)),
    toJson: (v) => form.encode(v),
    print: (src) => `"${form.encode(src.bytes(length.read(src, max)))}"`,
    fromJson: (json, path) => bytesFromJson(json, path, form, limits),
    schema: form.schema,
  };
}

const encoder = new TextEncoder();

/** UTF-8 that survives a round trip; malformed bytes are refused. */
export function utf8FromBytes(raw: Uint8Array): string {
  try {
    return strictDecoder.decode(raw);
  } catch {
    throw new CodecError('bytes', 'malformed UTF-8');
  }
}

export function utf8ToBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * L2 text of at most `maxBytes` bytes of UTF-8. Unpaired surrogates have no UTF-8 form and are
 * refused.
 */
export function text16(maxBytes = L2_MAX, tooLong?: Refuse): Codec<string> {
  return text(maxBytes, LENGTH_2, tooLong);
}

/** L4 text of at most `maxBytes` bytes of UTF-8. */
export function text32(maxBytes: number, tooLong?: Refuse): Codec<string> {
  return text(maxBytes, LENGTH_4, tooLong);
}

function text(maxBytes: number, length: Length, tooLong: Refuse = invalid): Codec<string> {
  return {
    write(out, v) {
      const raw = encoder.encode(v);
      length.write(out, raw.length);
      out.bytes(raw);
    },
    read: (src) => utf8FromBytes(src.bytes(length.read(src, maxBytes))),
    toJson: (v) => v,
    print: (src) => JSON.stringify(utf8FromBytes(src.bytes(length.read(src, maxBytes)))),
    fromJson(json, path) {
      if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
      // A text has at least as many bytes of UTF-8 as UTF-16 units, and at most three times as
      // many.
      if (json.length * 3 > maxBytes) {
        if (json.length > maxBytes || encoder.encode(json).length > maxBytes) {
          throw overlong(path, maxBytes, tooLong, json);
        }
      }
      if (!json.isWellFormed()) {
        const reason = 'text is not valid Unicode';
        throw new CodecError(path, reason, invalid(reason, json));
      }
      return json;
    },
    schema: { type: 'string' },
  };
}

/** Refuses values for which `problem` gives a reason, in bytes and in JSON alike. */
export function check<T>(
  inner: Codec<T>,
  problem: (value: T, scheme: ChainScheme) => Refusal | string | undefined,
  schema: JsonSchema = {},
): Codec<T> {
  const guard = (value: T, path: string, scheme: ChainScheme): T => {
    const found = problem(value, scheme);
    if (found === undefined) return value;
    if (typeof found === 'string') throw new CodecError(path, found);
    throw new CodecError(path, found.message, found);
  };
  return {
    ...inner,
    read: (src) => guard(inner.read(src), 'bytes', src.scheme),
    fromJson: (json, path, scheme) => guard(inner.fromJson(json, path, scheme), path, scheme),
    schema: { ...inner.schema, ...schema },
  };
}

/** The same bytes and JSON under another TypeScript type. */
export function map<A, B>(inner: Codec<A>, to: (a: A) => B, from: (b: B) => A): Codec<B> {
  return {
    write: (out, v) => inner.write(out, from(v)),
    read: (src) => to(inner.read(src)),
    toJson: (v, scheme) => inner.toJson(from(v), scheme),
    fromJson: (json, path, scheme) => to(inner.fromJson(json, path, scheme)),
    schema: inner.schema,
  };
}
