/** Codecs of table values. They never leave the node, so their JSON side only serves debugging. */
import { decodeHex, encodeHex } from '../base/hex.ts';
import type { Codec } from '../codec/codec.ts';
import { bytes, bytes32, type TextForm } from '../codec/primitives.ts';

const hex: TextForm = { encode: encodeHex, decode: decodeHex, schema: { type: 'string' } };

const VALUE_BYTES_MAX = 2 ** 30;

/** Exactly `count` bytes. */
export const raw = (count: number): Codec<Uint8Array> => bytes(count, hex);

/** Bytes with their length in front. */
export const sized: Codec<Uint8Array> = bytes32(VALUE_BYTES_MAX, hex);

/** The whole row is one byte string. */
export const blob: Codec<Uint8Array> = {
  write: (out, value) => out.bytes(value),
  read: (src) => src.bytes(src.remaining),
  toJson: (value) => hex.encode(value),
  fromJson: (json) => hex.decode(String(json), VALUE_BYTES_MAX),
  schema: hex.schema,
};

/** A row whose key says everything. */
export const present: Codec<true> = {
  write: () => {},
  read: () => true,
  toJson: () => true,
  fromJson: () => true,
  schema: { const: true },
};
