/**
 * Transactions as bytes: alone, and inside blocks and journals, where a length stands before each
 * one: length 4 | full bytes (blocks.md#block-bytes).
 */
import { CodecError, type Reader } from '../codec/codec.ts';
import { defOfBytes } from './registry.ts';
import { EXECUTED_TX_BYTES_MAX, TX_BYTES_MAX } from './size.ts';

export { buildTx, signedBytes } from './assemble.ts';
export { decodeStoredTx, decodeTx, decodeUnreadTx } from './registry.ts';

/**
 * Reads the full bytes of a transaction of `length` bytes without decoding them. Throws CodecError
 * where its type may not have this many.
 */
export function readTxBytes(src: Reader, length: number): Uint8Array {
  if (length < 1 || length > EXECUTED_TX_BYTES_MAX) throw wrongLength(length);
  const bytes = src.bytes(length);
  if (length > TX_BYTES_MAX && length > (defOfBytes(bytes)?.bytesMax ?? TX_BYTES_MAX)) {
    throw wrongLength(length);
  }
  return bytes;
}

const wrongLength = (length: number): CodecError =>
  new CodecError('transactions', `one of ${length} bytes`);
