/**
 * Warnings and bans for missed turns, derived from the chain alone
 * (consensus.md#warnings-and-bans).
 *
 * The next block marks the miners whose turns passed without a block, each at most once per block. A
 * turn whose block lost against another one is not missed, where the next block says so.
 * The mark is a warning, or a ban that replaces the last warnings. A miner's own block clears its
 * warnings. At most a share of the queue is banned at one time; while that many are banned, no
 * miner is marked.
 */
import { equal, latin1 } from '../base/bytes.ts';
import {
  type BanHistory,
  isBanned,
  lastMark,
  NO_BANS,
  withBan,
  withoutWarnings,
  withWarning,
} from './ban-history.ts';
import type { BanChange, ConsensusView } from './consensus.ts';
import { type MinerRotation, minerAfter } from './miner-rotation.ts';

export interface BanSettings {
  readonly banDurationBlocks: number;
  readonly warningsForBan: number;
  /** 0 switches warnings and bans off. */
  readonly maxBansPercentage: number;
}

export interface AppliedBlock {
  readonly height: number;
  readonly timestamp: number;
  /** Address of the generator. */
  readonly generator: Uint8Array;
  /** Rounds without a block since the parent. */
  readonly skipped: number;
  /** Addresses of miners whose blocks in these rounds lost against others; they are not marked. */
  readonly kept: readonly Uint8Array[];
}

/** The histories that a block changes; `rotation` is the one after its parent, at the block's time. */
export function applyBans(
  block: AppliedBlock,
  rotation: MinerRotation,
  settings: BanSettings,
  banHistory: ConsensusView['banHistory'],
): BanChange[] {
  // The parent of the second block is genesis, whose time says nothing about miners.
  if (block.height === 2 || settings.maxBansPercentage === 0) return [];
  const changed = new Map<string, BanChange & { readonly history: BanHistory }>();
  const read = (address: Uint8Array): BanHistory =>
    changed.get(latin1(address))?.history ?? banHistory(address) ?? NO_BANS;
  const write = (address: Uint8Array, history: BanHistory): void => {
    changed.set(latin1(address), { address, history });
  };

  const own = read(block.generator);
  if (own.warnings.length > 0) write(block.generator, withoutWarnings(own));

  if (block.skipped > 0) markFaulty(block, rotation, settings, read, write);
  return [...changed.values()].map(({ address, history }) => ({
    address,
    history: history.warnings.length + history.bans.length === 0 ? undefined : history,
  }));
}

function markFaulty(
  { height, timestamp, skipped, kept }: AppliedBlock,
  rotation: MinerRotation,
  settings: BanSettings,
  read: (address: Uint8Array) => BanHistory,
  write: (address: Uint8Array, history: BanHistory) => void,
): void {
  const { banDurationBlocks, warningsForBan, maxBansPercentage } = settings;
  const size = rotation.queue.length;
  const limit = Math.floor((size * maxBansPercentage) / 100);
  let banned = rotation.queue.filter((address) =>
    isBanned(read(address), height, banDurationBlocks),
  ).length;
  // Nobody is marked twice by one block, and the turns repeat.
  const missed = Math.min(size, missedTurns(skipped, size, settings));
  // Who is banned and has a turn all the same is not marked for it.
  const bansCount = { ...rotation, pardonFrom: Infinity };
  for (let k = 0; k < missed && banned < limit; k++) {
    const address = minerAfter(bansCount, k);
    if (address === undefined || kept.some((one) => equal(one, address))) continue;
    const history = read(address);
    if (lastMark(history) >= timestamp) continue;
    if (history.warnings.length === warningsForBan - 1) {
      write(address, withBan(history, { timestamp, height }));
      banned += 1;
    } else {
      write(address, withWarning(history, timestamp));
    }
  }
}

/** How many of the skipped rounds count; after a long pause not all of them do. */
function missedTurns(
  skipped: number,
  size: number,
  { warningsForBan, maxBansPercentage }: BanSettings,
): number {
  if (skipped <= size) return skipped;
  const spared = Math.floor((size * (100 - maxBansPercentage)) / 100);
  return Math.min(skipped, size * warningsForBan - spared);
}
