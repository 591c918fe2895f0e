/** Codecs of table values. These never leave the node, so their JSON form is for debugging only. */
import { decodeHex, encodeHex } from '../base/hex.ts';
import type { Codec } from '../codec/codec.ts';
import { bytes, bytes32, type TextForm, u16, u32 } from '../codec/primitives.ts';
import { struct } from '../codec/struct.ts';

const hex: TextForm = { encode: encodeHex, decode: decodeHex, schema: { type: 'string' } };

const VALUE_BYTES_MAX = 2 ** 30;

/** Exactly `count` bytes. */
export const raw = (count: number): Codec<Uint8Array> => bytes(count, hex);

/** Bytes after their length. */
export const sized: Codec<Uint8Array> = bytes32(VALUE_BYTES_MAX, hex);

/** The whole row is one byte string. */
export const blob: Codec<Uint8Array> = {
  write: (out, value) => out.bytes(value),
  read: (src) => src.bytes(src.remaining),
  toJson: (value) => hex.encode(value),
  fromJson: (json) => hex.decode(String(json), VALUE_BYTES_MAX),
  schema: hex.schema,
};

/** Where a transaction stands. Every answer with a transaction reads one, so it has no loop. */
export const position: Codec<{ readonly height: number; readonly index: number }> = {
  ...struct({ height: u32, index: u16 }),
  read: (src) => ({ height: src.u32(), index: src.u16() }),
};

/** A row without a value: its key holds all the information. */
export const present: Codec<true> = {
  write: () => {},
  read: () => true,
  toJson: () => true,
  fromJson: () => true,
  schema: { const: true },
};
