/**
 * Blocks of this node that are about to leave the chain, in a reorganisation or by the tool
 * (consensus.md#a-block-that-was-sealed).
 *
 * Invariant: before the chain changes, each of them whose turn does not pass with time is kept on
 * disk, or its turn is given up there. So after any end of the node, no turn has a second block.
 */
import { equal } from '../base/bytes.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { blockInSlices, headerRowAt } from '../chain/store/stored-blocks.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { Consensus } from '../consensus/consensus.ts';
import type { UsedSlots } from './used-slots.ts';

export interface RemovedBlocksPorts {
  readonly blockchain: Blockchain;
  readonly consensus: Pick<Consensus, 'turnOf' | 'hasEnded'>;
  readonly clock: Clock;
  readonly turns: Pick<UsedSlots, 'keep' | 'giveUp' | 'sealed' | 'asked'>;
  /** The address of the account that signs the blocks of this node. */
  readonly own: Uint8Array;
}

/** What becomes of the blocks of this node. */
export interface RemovedBlocks {
  /** Those that come back where their parent is the tip again. */
  readonly kept: number;
  /** Those that do not, although their turns stay used. */
  readonly given: number;
}

/** Throws ApiError where the disk does not take it: then the blocks must stay in the chain. */
export async function keepRemovedBlocks(
  above: number,
  { blockchain, consensus, clock, turns, own }: RemovedBlocksPorts,
): Promise<RemovedBlocks> {
  let kept = 0;
  const heights = ownAbove(above, blockchain, own);
  for (const { height, header } of heights) {
    const turn = consensus.turnOf(header);
    if (consensus.hasEnded(header, clock.now())) {
      // Others have had turns since: kept as sealed, it would come back where its parent is the tip again.
      if (turns.sealed().some((one) => one.turn === turn)) await turns.giveUp(turn);
      continue;
    }
    const block = await blockInSlices(blockchain.view, height, new TimeSlice(clock));
    if (block === undefined) continue;
    await turns.keep({ turn, bytes: block.bytes });
    kept += 1;
  }
  return { kept, given: heights.length - kept };
}

/**
 * The turns of all these blocks, and of those that wait to come into the chain, stay used for ever,
 * and none of these blocks comes back. Throws ApiError as `keepRemovedBlocks`.
 */
export async function giveUpRemovedBlocks(
  above: number,
  { blockchain, consensus, turns, own }: RemovedBlocksPorts,
): Promise<RemovedBlocks> {
  const heights = ownAbove(above, blockchain, own);
  const given = new Set(heights.map(({ header }) => consensus.turnOf(header)));
  const asked = turns.asked();
  for (const { turn } of [...turns.sealed(), ...(asked ? [asked] : [])]) given.add(turn);
  for (const turn of given) await turns.giveUp(turn);
  return { kept: 0, given: given.size };
}

function ownAbove(above: number, blockchain: Blockchain, own: Uint8Array) {
  const { view } = blockchain;
  const found = [];
  for (let height = above + 1; height <= blockchain.tip().height; height++) {
    const row = headerRowAt(view, height);
    if (row !== undefined && equal(view.scheme.addressOf(row.header.generator), own)) {
      found.push({ height, header: row.header });
    }
  }
  return found;
}
