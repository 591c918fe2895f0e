/**
 * State hash chain: hash(h) = fastHash(hash(h − 1) ‖ write set of block h), from 32 zero bytes.
 *
 * The write set is what the block changed in tables of kind `state`, in ascending order of key and
 * then table: table u8, key length u16, key, then 0 for a removal, or 1, length u32 and value. The
 * hash is not part of the protocol. Operators compare it to find the block at which two nodes began
 * to differ.
 */
import { DIGEST_BYTES } from '../../base/sizes.ts';
import type { Writer } from '../../codec/codec.ts';

export const FIRST_STATE_HASH: Uint8Array = new Uint8Array(DIGEST_BYTES);

export function writeHashedRow(
  out: Writer,
  table: number,
  key: Uint8Array,
  value: Uint8Array | undefined,
): void {
  out.u8(table);
  out.u16(key.length);
  out.bytes(key);
  if (value === undefined) {
    out.u8(0);
  } else {
    out.u8(1);
    out.u32(value.length);
    out.bytes(value);
  }
}
