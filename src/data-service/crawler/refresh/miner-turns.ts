/**
 * The turns that miners have missed, and their bans under proof of authority. They follow from the
 * chain alone, so the rules of the node derive them here, too (consensus.md#warnings-and-bans).
 */
import { latin1, utf8 } from '../../../base/bytes.ts';
import { type BanHistory, isBanned, NO_BANS } from '../../../consensus/ban-history.ts';
import { type MinerRotation, minerAfter } from '../../../consensus/miner-rotation.ts';
import { applyBans, type BanSettings } from '../../../consensus/poa-bans.ts';

export interface MinedBlock {
  readonly height: number;
  readonly timestamp: number;
  readonly generator: string;
  /** Rounds without a block since the genesis. */
  readonly skipped: number;
  /** Addresses of miners whose turns the block carries, since their blocks lost. */
  readonly kept: readonly string[];
}

/** A grant or a removal of the role `miner`. */
export interface MinerOp {
  readonly address: string;
  /** Of the block that has it. */
  readonly height: number;
  readonly timestamp: number;
  readonly isGrant: boolean;
  /** The role ends then. */
  readonly due: number | undefined;
}

/** What a block says about a miner whose turn passed before it. */
export interface MinerMark {
  readonly height: number;
  readonly address: string;
  /** Turns without a block. */
  readonly missed: number;
  readonly mark: (typeof MARKS)[keyof typeof MARKS];
  /** Last height at which a ban is in force. */
  readonly until: number | undefined;
}

export const MARKS = { none: 0, warning: 1, ban: 2 } as const;

/** What the next block is judged by. */
export interface MinerState {
  readonly histories: Map<string, BanHistory>;
  /** Height of the last block of each miner. */
  readonly lastBlocks: Map<string, number>;
}

/** Of a longer pause no more rounds are counted. */
const ROUNDS_MAX = 1000;

/** Changes the state to that after the block. */
export function marksOf(
  block: MinedBlock,
  parent: MinedBlock,
  ops: readonly MinerOp[],
  state: MinerState,
  settings: BanSettings,
): readonly MinerMark[] {
  const { height, timestamp } = block;
  const { histories, lastBlocks } = state;
  const skipped = Math.max(0, block.skipped - parent.skipped);
  const rotation = skipped === 0 ? NOBODY : rotationAfter(parent, timestamp, ops, state, settings);
  const kept = block.kept.map(utf8);
  const applied = { height, timestamp, generator: utf8(block.generator), skipped, kept };
  const changes = applyBans(applied, rotation, settings, (address) =>
    histories.get(latin1(address)),
  );
  for (const { address, history } of changes) histories.set(latin1(address), history ?? NO_BANS);
  lastBlocks.set(block.generator, height);
  // The parent of the second block is the genesis, whose time says nothing about miners.
  if (height === 2) return [];
  return [...missedTurns(rotation, skipped, block.kept)].map(([address, missed]) => {
    const { warnings, bans } = histories.get(address) ?? NO_BANS;
    const isNow = bans[0]?.height === height;
    const mark = isNow ? MARKS.ban : warnings[0] === timestamp ? MARKS.warning : MARKS.none;
    const until = isNow ? height + settings.banDurationBlocks - 1 : undefined;
    return { height, address, missed, mark, until };
  });
}

const NOBODY: MinerRotation = { queue: [], last: undefined, banned: [], pardonFrom: Infinity };

function missedTurns(
  rotation: MinerRotation,
  skipped: number,
  kept: readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (let round = 0; round < Math.min(skipped, ROUNDS_MAX); round++) {
    const miner = minerAfter(rotation, round);
    if (miner === undefined || kept.includes(latin1(miner))) continue;
    counts.set(latin1(miner), (counts.get(latin1(miner)) ?? 0) + 1);
  }
  return counts;
}

function rotationAfter(
  parent: MinedBlock,
  timestamp: number,
  ops: readonly MinerOp[],
  { histories, lastBlocks }: MinerState,
  { banDurationBlocks }: BanSettings,
): MinerRotation {
  const queue = queueAt(timestamp, parent.height, ops);
  const heights = queue.map((address) => lastBlocks.get(address) ?? 0);
  const highest = Math.max(0, ...heights);
  return {
    queue: queue.map(utf8),
    last: highest === 0 ? undefined : heights.indexOf(highest),
    banned: queue.map((address) =>
      isBanned(histories.get(address), parent.height, banDurationBlocks),
    ),
    // A turn that a banned miner has while bans do not count is no missed turn.
    pardonFrom: Infinity,
  };
}

/** The queue at a time, from the operations up to a height (consensus.md#the-miner-queue). */
function queueAt(timestamp: number, height: number, ops: readonly MinerOp[]): readonly string[] {
  const last = new Map<string, MinerOp>();
  for (const op of ops) {
    if (op.height > height || op.timestamp > timestamp) continue;
    const before = last.get(op.address);
    if (before === undefined || before.timestamp <= op.timestamp) last.set(op.address, op);
  }
  return (
    [...last.values()]
      .filter(({ isGrant, due }) => isGrant && (due === undefined || due > timestamp))
      // Base58 of one length has the order of its bytes.
      .sort((a, b) => a.timestamp - b.timestamp || (a.address < b.address ? -1 : 1))
      .map(({ address }) => address)
  );
}
