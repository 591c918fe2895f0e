/**
 * Transactions as bytes: alone, and inside blocks and journals, where each one comes after its
 * length: length 4 | full bytes (protocol.md §2.1).
 */
import { CodecError, type Reader, type Writer } from '../codec/codec.ts';
import { decodeTx } from './registry.ts';
import type { Tx } from './transaction.ts';

export { decodeTx } from './registry.ts';
export { buildTx, signedBytes } from './seal.ts';

/** Reads length and transaction. Throws CodecError. */
export function readTx(src: Reader): Tx {
  const length = src.i32();
  if (length < 0) throw new CodecError('bytes', `negative length ${length}`);
  return decodeTx(src.bytes(length), src.chain);
}

export function writeTx(out: Writer, tx: Tx): void {
  out.i32(tx.bytes.length);
  out.bytes(tx.bytes);
}
