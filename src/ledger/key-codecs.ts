/**
 * Key codecs that preserve order, and the bounds of ranges over them.
 *
 * Invariants: a < b as keys if and only if bytes(a) < bytes(b); integers are big-endian; only the
 * last part of a tuple may vary in length; an encoded key never changes, so `fixed` returns the
 * caller's bytes without a copy.
 */
import { assert } from '../base/assert.ts';
import { strictDecoder } from '../base/bytes.ts';
import type { KeyCodec } from './table.ts';

/** A key codec that can also be one part of a tuple. */
export interface KeyPart<K> extends KeyCodec<K> {
  /** The number of bytes of every key, or undefined where it varies. */
  readonly width: number | undefined;
  /** The number of bytes of this key. */
  size(key: K): number;
  put(target: Uint8Array, at: number, key: K): void;
  /** Reads the part at `at`; a part of varying width ends at `end`. */
  take(bytes: Uint8Array, at: number, end: number): K;
}

type Keys<P> = { [I in keyof P]: P[I] extends KeyPart<infer K> ? K : never };

const standalone = <K>(part: Omit<KeyPart<K>, 'encode' | 'decode'>): KeyPart<K> => ({
  ...part,
  encode: (key) => {
    const bytes = new Uint8Array(part.size(key));
    part.put(bytes, 0, key);
    return bytes;
  },
  decode: (bytes) => {
    assert(part.width === undefined || part.width === bytes.length, 'a key has its width');
    return part.take(bytes, 0, bytes.length);
  },
});

/** Exactly `width` bytes: addresses, ids. Decoding returns a view. */
export const fixed = (width: number): KeyPart<Uint8Array> => {
  // Keys are encoded so often that the text is made in advance.
  const rule = `a key part of ${width} bytes`;
  const check = (key: Uint8Array): Uint8Array => {
    assert(key.length === width, rule);
    return key;
  };
  return {
    width,
    size: () => width,
    put: (target, at, key) => target.set(check(key), at),
    take: (bytes, at) => bytes.subarray(at, at + width),
    encode: check,
    decode: check,
  };
};

const utf8 = new TextEncoder();

/** UTF-8 text of any length as the last part; its byte order is that of the code points. */
export const textTail: KeyPart<string> = standalone({
  width: undefined,
  size: (key) => Buffer.byteLength(key),
  put: (target, at, key) => {
    utf8.encodeInto(key, at === 0 ? target : target.subarray(at));
  },
  take: (bytes, at, end) => strictDecoder.decode(bytes.subarray(at, end)),
});

const integer = (
  width: 1 | 2 | 4,
  toStored: (key: number) => number,
  fromStored: (stored: number) => number,
): KeyPart<number> =>
  standalone({
    width,
    size: () => width,
    put: (target, at, key) => {
      const stored = toStored(key);
      // A typed array keeps the lowest eight bits. Keys of rows are made for every read.
      target[at + width - 1] = stored;
      if (width === 1) return;
      target[at + width - 2] = stored >>> 8;
      if (width === 2) return;
      target[at + 1] = stored >>> 16;
      target[at] = stored >>> 24;
    },
    take: (bytes, at) => {
      let stored = 0;
      for (let i = at; i < at + width; i++) stored = (stored * 256 + bytes[i]!) >>> 0;
      return fromStored(stored);
    },
  });

const KEY_RANGE = 'a key integer in its range';

const ascending = (width: 1 | 2 | 4, max: number): KeyPart<number> =>
  integer(
    width,
    (key) => {
      assert(key >= 0 && key <= max && Number.isInteger(key), KEY_RANGE);
      return key;
    },
    (stored) => stored,
  );

const falling = (width: 1 | 2 | 4, max: number): KeyPart<number> =>
  integer(
    width,
    (key) => {
      assert(key >= 0 && key <= max && Number.isInteger(key), KEY_RANGE);
      return max - key;
    },
    (stored) => max - stored,
  );

export const u8Key: KeyPart<number> = ascending(1, 0xff);
export const u16Key: KeyPart<number> = ascending(2, 0xffff);
export const u32Key: KeyPart<number> = ascending(4, 0xffff_ffff);
/** 0xFFFFFFFF − key: the latest height comes first. */
export const descendingU32: KeyPart<number> = falling(4, 0xffff_ffff);

/** A non-negative safe integer in eight bytes: timestamps in milliseconds. */
export const u64Key: KeyPart<number> = standalone({
  width: 8,
  size: () => 8,
  put: (target, at, key) => {
    assert(key >= 0 && Number.isSafeInteger(key), 'a key integer below 2^53');
    u32Key.put(target, at, Math.floor(key / 0x1_0000_0000));
    u32Key.put(target, at + 4, key >>> 0);
  },
  take: (bytes, at) =>
    u32Key.take(bytes, at, at + 4) * 0x1_0000_0000 + u32Key.take(bytes, at + 4, at + 8),
});

/** The parts one after the other; the first part that differs decides the order. */
export const tuple = <P extends readonly KeyPart<unknown>[]>(...parts: P): KeyPart<Keys<P>> => {
  const starts: number[] = [];
  let length = 0;
  for (const part of parts) {
    starts.push(length);
    const last = starts.length === parts.length;
    assert(last || part.width !== undefined, 'only the last part of a key varies in length');
    length += part.width ?? 0;
  }
  const count = parts.length;
  const tail = parts[count - 1];
  assert(tail !== undefined, 'a key has parts');
  return standalone<Keys<P>>({
    width: tail.width === undefined ? undefined : length,
    size: (key) => (tail.width === undefined ? length + tail.size(key[count - 1]) : length),
    put: (target, at, key) => {
      for (let i = 0; i < count; i++) parts[i]!.put(target, at + starts[i]!, key[i]);
    },
    take: (bytes, at, end) => {
      const keys: unknown[] = [];
      for (let i = 0; i < count; i++) {
        const next = starts[i + 1];
        keys.push(parts[i]!.take(bytes, at + starts[i]!, next === undefined ? end : at + next));
      }
      // Each part returned the type at its place in Keys<P>.
      return keys as unknown as Keys<P>;
    },
  });
};

/** The bytes with which all keys with these parts begin: the lower bound of their range. */
export const prefix = <P extends readonly KeyPart<unknown>[]>(
  parts: P,
  ...values: Keys<P>
): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part, i) => sum + part.size(values[i]), 0));
  let at = 0;
  parts.forEach((part, i) => {
    part.put(bytes, at, values[i]);
    at += part.size(values[i]);
  });
  return bytes;
};

/** The longest key of any table; LMDB accepts up to 1978 bytes. */
const MAX_KEY_BYTES = 511;

/** Above every key, for ranges without an upper bound. */
export const END_OF_TABLE: Uint8Array = new Uint8Array(MAX_KEY_BYTES + 1).fill(0xff);

/** Below every key, for ranges without a lower bound. */
export const START_OF_TABLE: Uint8Array = new Uint8Array(1);

/** The first key after all keys that begin with these bytes: the exclusive end of their range. */
export const prefixEnd = (start: Uint8Array): Uint8Array => {
  let last = start.length - 1;
  while (last >= 0 && start[last] === 0xff) last--;
  if (last < 0) return END_OF_TABLE;
  const end = new Uint8Array(start.subarray(0, last + 1));
  end[last] = end[last]! + 1;
  return end;
};

// Works on any Uint8Array and is four times as fast as toString('latin1'), which also copies.
const latin1Slice = (Buffer.prototype as unknown as { latin1Slice: (this: Uint8Array) => string })
  .latin1Slice;

/**
 * Key bytes as a string with the same order, one character a byte, for the keys of Maps. The string
 * owns its memory, so a cached key does not keep the block in memory from which it was read.
 */
export const keyText = (key: Uint8Array): string => latin1Slice.call(key);
