/**
 * Messages about unconfirmed transactions (mempool.md, network.md#messages): hashes are announced,
 * and a peer asks for those it lacks.
 *
 *   TxHashes  u2 count 1…500 | count × b32 hash of full bytes                 notice
 *   GetTxs    the same                                                        request
 *   Txs       u2 count ≤ 500 | count × (i4 length | full bytes)               answer: those still
 *             held, in the order of the request, up to 4 MiB
 *
 * Invariants: those of block-messages.ts.
 */

import { latin1 } from '../../base/bytes.ts';
import { MIB } from '../../base/limits/budget.ts';
import { ID_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { decodeTxList } from './block-messages.ts';

export { encodeTxList as encodeTxs } from './block-messages.ts';

export const txProtocols = { hashes: 'tx-hashes/1', txs: 'txs/1' } as const;

export const txLimits = {
  countMax: 500,
  hashesBytesMax: 2 + 500 * ID_BYTES,
  /** The bytes of one answer; transactions that do not fit are requested again. */
  answerBytes: 4 * MIB,
  answerBytesMax: 4 * MIB + 2 + 4 * 500,
} as const;

export function encodeTxHashes(hashes: readonly Uint8Array[], scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u16(hashes.length);
  for (const hash of hashes) out.bytes(hash);
  return out.take();
}

export function decodeTxHashes(bytes: Uint8Array, scheme: ChainScheme): Uint8Array[] {
  const src = new Reader(bytes, scheme);
  const count = src.u16();
  if (count < 1 || count > txLimits.countMax) throw new CodecError('message', `${count} hashes`);
  const hashes: Uint8Array[] = [];
  for (let i = 0; i < count; i++) hashes.push(src.bytes(ID_BYTES));
  src.finish();
  if (new Set(hashes.map(latin1)).size < count) throw new CodecError('message', 'a hash twice');
  return hashes;
}

export const decodeTxs = (bytes: Uint8Array, scheme: ChainScheme): Uint8Array[] =>
  decodeTxList(bytes, scheme, txLimits.countMax);
