/**
 * Messages about unconfirmed transactions (protocol.md §7, §10.5): hashes are announced, and who
 * lacks some asks for them.
 *
 *   TxHashes  u2 count 1…500 | count × b32 hash of full bytes                 notice
 *   GetTxs    the same                                                        request
 *   Txs       u2 count ≤ 500 | count × (i4 length | full bytes)               answer: those still
 *             held, in the order of the request, up to 4 MiB
 *
 * Invariants: those of messages-blocks.ts.
 */
import { type Chain, CodecError, Reader } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';
import { decodeTxList, HASH_BYTES } from './messages-blocks.ts';

export { encodeTxList as encodeTxs } from './messages-blocks.ts';

export const txProtocols = { hashes: 'tx-hashes/1', txs: 'txs/1' } as const;

export const txLimits = {
  countMax: 500,
  hashesBytesMax: 2 + 500 * HASH_BYTES,
  /** Transactions of one answer; what does not fit is asked for again. */
  answerBytes: 4 * 1024 * 1024,
  answerBytesMax: 4 * 1024 * 1024 + 2 + 4 * 500,
} as const;

export function encodeTxHashes(hashes: readonly Uint8Array[], chain: Chain): Uint8Array {
  const out = scratch(chain);
  out.u16(hashes.length);
  for (const hash of hashes) out.bytes(hash);
  return out.take();
}

export function decodeTxHashes(bytes: Uint8Array, chain: Chain): Uint8Array[] {
  const src = new Reader(bytes, chain);
  const count = src.u16();
  if (count < 1 || count > txLimits.countMax) throw new CodecError('message', `${count} hashes`);
  const hashes: Uint8Array[] = [];
  for (let i = 0; i < count; i++) hashes.push(src.bytes(HASH_BYTES));
  src.finish();
  return hashes;
}

export const decodeTxs = (bytes: Uint8Array, chain: Chain): Uint8Array[] =>
  decodeTxList(bytes, chain, txLimits.countMax);
