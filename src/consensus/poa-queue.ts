/**
 * Whose turn it is under PoA (consensus.md#whose-turn-it-is).
 *
 * The queue goes on behind the miner of the last block by anyone still in the queue. Skipped rounds
 * move the turn on by one each, and banned miners are passed over.
 */
import { latin1 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import { isBanned } from './ban-history.ts';
import type { ConsensusView } from './consensus.ts';

/** Blocks looked at one by one before every miner of the queue is asked for its last block. */
const WALK_BLOCKS_MAX = 1000;

/** The order in which turns come after a parent; the same for all skipped rounds. */
export interface Turns {
  readonly queue: readonly Uint8Array[];
  /** Place of the last generator in the queue; undefined while none of the queue has mined. */
  readonly last: number | undefined;
  /** By place: banned at the parent's height. */
  readonly banned: readonly boolean[];
}

export function turnsAfter(
  queue: readonly Uint8Array[],
  parentHeight: number,
  banDurationBlocks: number,
  view: ConsensusView,
): Turns {
  return {
    queue,
    last: lastGenerator(queue, parentHeight, view),
    banned: queue.map((address) =>
      isBanned(view.banHistory(address), parentHeight, banDurationBlocks),
    ),
  };
}

function lastGenerator(
  queue: readonly Uint8Array[],
  parentHeight: number,
  view: ConsensusView,
): number | undefined {
  if (queue.length === 0) return undefined;
  const places = new Map(queue.map((address, place) => [latin1(address), place]));
  const walkEnd = Math.max(0, parentHeight - WALK_BLOCKS_MAX);
  for (let height = parentHeight; height > walkEnd; height--) {
    const place = places.get(latin1(view.generatorAt(height)));
    if (place !== undefined) return place;
  }
  if (walkEnd === 0) return undefined;
  // The whole queue is new since then: their own last blocks tell, without reading all the chain.
  const heights = queue.map((address) => view.lastBlockBy(address, walkEnd) ?? 0);
  const highest = Math.max(...heights);
  return highest === 0 ? undefined : heights.indexOf(highest);
}

/** The miner whose turn it is after `skipped` rounds. Throws ApiError where there is none. */
export function determineMiner(turns: Turns, skipped: number): Uint8Array {
  if (turns.queue.length === 0) {
    throw apiError('Invalid', "Couldn't determine miner: miner queue is empty!");
  }
  const miner = minerAfter(turns, skipped);
  if (miner === undefined) throw apiError('Invalid', 'All miners are banned');
  return miner;
}

/** The same without a reason: undefined where no miner has the turn. */
export function minerAfter(
  { queue, last, banned }: Turns,
  skipped: number,
): Uint8Array | undefined {
  const size = queue.length;
  if (size === 0) return undefined;
  // Before a miner of the queue has mined, bans do not count.
  if (last === undefined) return queue[(1 + skipped) % size];
  // Candidates: the queue from the last generator on, then once more the whole queue.
  for (let at = last + 1 + (skipped % size); at < 2 * size; at++) {
    const place = at % size;
    if (!banned[place]) return queue[place];
  }
  return undefined;
}
