/**
 * Which miner has the turn under PoA (consensus.md#whose-turn-it-is).
 *
 * The turn goes to the miner that follows the generator of the last block made by a miner of the
 * queue. Each skipped round moves the turn on by one. Banned miners are skipped, as long
 * as others make blocks.
 */
import { latin1 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import { isBanned } from './ban-history.ts';
import type { ConsensusView } from './consensus.ts';

/**
 * The number of blocks that are read one by one, before each miner of the queue is asked for its
 * last block.
 */
const WALK_BLOCKS_MAX = 1000;

/** The order of the turns after a parent; the same for all skipped rounds. */
export interface MinerRotation {
  readonly queue: readonly Uint8Array[];
  /**
   * Position of the last generator in the queue; undefined while no miner of the queue has made a
   * block.
   */
  readonly last: number | undefined;
  /** By position: true where the miner is banned at the parent's height. */
  readonly banned: readonly boolean[];
  /** From this number of skipped rounds on, bans do not count. */
  readonly pardonFrom: number;
}

export function rotationAfter(
  queue: readonly Uint8Array[],
  parentHeight: number,
  banDurationBlocks: number,
  hasPardon: boolean,
  view: ConsensusView,
): MinerRotation {
  const banned = queue.map((address) =>
    isBanned(view.banHistory(address), parentHeight, banDurationBlocks),
  );
  return {
    queue,
    last: lastGenerator(queue, parentHeight, view),
    banned,
    pardonFrom: hasPardon ? pardonOf(banned) : Infinity,
  };
}

/**
 * A ban passes by height, so without blocks it would never pass. Bans do not count where everybody is
 * banned, and after everybody else has missed a turn (feature 1002).
 */
const pardonOf = (banned: readonly boolean[]): number =>
  banned.every((is) => is) ? 0 : banned.length;

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
  // The whole queue has changed since then. Each miner's last block answers the question without
  // reading the whole chain.
  const heights = queue.map((address) => view.lastBlockBy(address, walkEnd) ?? 0);
  const highest = Math.max(...heights);
  return highest === 0 ? undefined : heights.indexOf(highest);
}

/** The miner with the turn after `skipped` rounds. Throws ApiError where there is none. */
export function determineMiner(rotation: MinerRotation, skipped: number): Uint8Array {
  if (rotation.queue.length === 0) {
    throw apiError('Invalid', "Couldn't determine miner: miner queue is empty!");
  }
  const miner = minerAfter(rotation, skipped);
  if (miner === undefined) throw apiError('Invalid', 'All miners are banned');
  return miner;
}

/** The same without a reason: undefined where no miner has the turn. */
export function minerAfter(
  { queue, last, banned, pardonFrom }: MinerRotation,
  skipped: number,
): Uint8Array | undefined {
  const size = queue.length;
  if (size === 0) return undefined;
  // Bans do not count before a miner of the queue has made a block.
  if (last === undefined) return queue[(1 + skipped) % size];
  // The candidates: the queue after the last generator, then the whole queue once more.
  for (let at = last + 1 + (skipped % size); at < 2 * size; at++) {
    const place = at % size;
    if (!banned[place] || skipped >= pardonFrom) return queue[place];
  }
  return undefined;
}
