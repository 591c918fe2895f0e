/**
 * Rolls back blocks that this node has made while its clock was ahead. Every node refuses a block
 * from the future (blocks.md#checks-of-a-received-block step 7). Under proof of stake a node with a
 * wrong clock makes a chain of such blocks, which scores higher than the chain of the network until
 * their time has come.
 *
 * Only own blocks at the end of the chain are rolled back: blocks of other generators were accepted
 * in time, so a clock that jumps back does not disprove them.
 */
import { unlessOurs } from '../../base/assert.ts';
import { equal } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { finalFloor } from '../../chain/finality/final-floor.ts';
import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import type { Tip } from '../../chain/tip.ts';
import { isFromFuture } from '../../consensus/consensus.ts';
import type { PeerTips } from './peer-tips.ts';

export interface RollbackPorts {
  readonly blockchain: Blockchain;
  readonly peerTips: PeerTips;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks the end of the chain whenever a peer announces its head. */
export function rollBackFutureBlocks(ownPublicKey: Uint8Array, ports: RollbackPorts): void {
  const { blockchain, peerTips, clock, log } = ports;

  const isEarly = ({ header }: Pick<Tip, 'header'>): boolean =>
    isFromFuture(header.timestamp, clock.now()) && equal(header.generator, ownPublicKey);

  function newestInTime(from: number): number {
    let height = from;
    for (let row = headerRowAt(blockchain.view, height); row !== undefined && isEarly(row); ) {
      row = headerRowAt(blockchain.view, --height);
    }
    return height;
  }

  async function rollBack(): Promise<void> {
    await blockchain.exclusive(async (chain) => {
      const from = chain.tip().height;
      // A final block stays, whatever this clock says: others have voted for its child.
      const to = Math.max(newestInTime(from), finalFloor(blockchain.view));
      if (to >= from) return;
      await chain.commit([], await chain.unwind(to));
      log.warn('chain.rolled-back', { from, to, why: 'own blocks from the future' });
    });
  }

  peerTips.onTip(() => {
    if (!isEarly(blockchain.tip())) return;
    rollBack().catch(unlessOurs((error) => log.error('sync.failed', { why: String(error) })));
  });
}
