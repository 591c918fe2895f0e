/**
 * Takes back what this node has made while its clock was ahead. Nobody takes a block from the future
 * (protocol.md §2.3 step 7), but under proof of stake a node with a wrong clock makes a chain of them,
 * which would look better to it than that of the others until their time has come.
 *
 * Only its own blocks at the end of the chain: what others have made in time is not doubted because
 * the clock says so.
 */
import { equal } from '../base/bytes.ts';
import type { Clock, Log } from '../base/ports.ts';
import type { Blockchain, Tip } from '../chain/blockchain.ts';
import { headerRowAt } from '../chain/stored-blocks.ts';
import { isFromFuture } from '../consensus/consensus.ts';
import type { PeerHeads } from './peer-heads.ts';

export interface RecantPorts {
  readonly blockchain: Blockchain;
  readonly heads: PeerHeads;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looks at the end of the chain whenever a peer tells of its own. */
export function recantFuture(ownPublicKey: Uint8Array, ports: RecantPorts): void {
  const { blockchain, heads, clock, log } = ports;

  const isEarly = ({ header }: Pick<Tip, 'header'>): boolean =>
    isFromFuture(header.timestamp, clock.now()) && equal(header.generator, ownPublicKey);

  function newestInTime(from: number): number {
    let height = from;
    for (let row = headerRowAt(blockchain.view, height); row !== undefined && isEarly(row); ) {
      row = headerRowAt(blockchain.view, --height);
    }
    return height;
  }

  async function recant(): Promise<void> {
    await blockchain.exclusive(async ({ tip, unwind, commit }) => {
      const from = tip().height;
      const to = newestInTime(from);
      if (to === from) return;
      await commit([], await unwind(to));
      log.warn('chain.rolled-back', { from, to, why: 'own blocks from the future' });
    });
  }

  heads.onHead(() => {
    if (!isEarly(blockchain.tip())) return;
    recant().catch((error: unknown) => log.error('sync.failed', { why: String(error) }));
  });
}
