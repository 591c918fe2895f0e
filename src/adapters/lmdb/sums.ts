/**
 * A checksum for each row, because LMDB has none: four bytes after the value, over table, key and
 * value. It detects a row that was changed on the disk or moved to another key, when the row is
 * read (store.ts) or the file is checked (check.ts).
 *
 * The key goes into the checksum first, as its starting value. Each step maps different states to
 * different states, so one changed byte in key or value always changes the sum.
 */
import { crc32 } from 'node:zlib';

export const SUM_BYTES = 4;

const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** `sealed` is the value and room for the checksum, which is written there. */
export function seal(table: number, key: Uint8Array, sealed: Uint8Array): void {
  const end = sealed.length - SUM_BYTES;
  const sum = sumOf(table, key, sealed.subarray(0, end));
  sealed[end] = sum;
  sealed[end + 1] = sum >>> 8;
  sealed[end + 2] = sum >>> 16;
  sealed[end + 3] = sum >>> 24;
}

/**
 * The value before the checksum, as a view; undefined where the checksum does not match the row.
 * The row is the beginning of `sealed`.
 */
export function unseal(
  table: number,
  key: Uint8Array,
  sealed: Uint8Array,
  length = sealed.length,
): Uint8Array | undefined {
  const end = length - SUM_BYTES;
  if (end < 0) return undefined;
  // The binding overrides `length` of its shared buffer, so the view uses the buffer below it.
  const value = new Uint8Array(sealed.buffer, sealed.byteOffset, end);
  const sum = sumOf(table, key, value);
  const stored =
    sealed[end]! | (sealed[end + 1]! << 8) | (sealed[end + 2]! << 16) | (sealed[end + 3]! << 24);
  return stored >>> 0 === sum ? value : undefined;
}

function sumOf(table: number, key: Uint8Array, value: Uint8Array): number {
  let start = Math.imul(FNV_START ^ table, FNV_PRIME);
  for (let i = 0; i < key.length; i++) start = Math.imul(start ^ key[i]!, FNV_PRIME);
  return crc32(value, start >>> 0);
}
