/** Transfers that a network gets at a steady pace, and when each was answered. */
import { base58 } from '../../src/base/base58.ts';
import { postPaced } from '../load/paced.ts';
import type { BenchNetwork } from '../node/network.ts';
import { broadcastRequest, nthTransfer } from './transfers.ts';

export interface PacedTransfers {
  readonly count: number;
  /** The number of the first one. None may be sent twice. */
  readonly from: number;
  readonly perSecond: number;
}

export interface PostedTransfer {
  readonly id: string;
  /** By `performance.now()`, when its 200 was there. */
  readonly answeredAt: number;
}

/** All nodes in turn get them. */
export async function postTransfers(
  { nodes, senders, folder }: BenchNetwork,
  { count, from, perSecond }: PacedTransfers,
): Promise<PostedTransfer[]> {
  const now = Date.now();
  const txs = Array.from({ length: count }, (_, i) =>
    nthTransfer(from + i, senders, now + i, folder.scheme),
  );
  const answered = await postPaced(
    nodes.map(({ port }) => port),
    txs.map((tx) => broadcastRequest(tx, folder.scheme)),
    perSecond,
  );
  return txs.map((tx, i) => ({ id: base58.encode(tx.id), answeredAt: answered[i]! }));
}
