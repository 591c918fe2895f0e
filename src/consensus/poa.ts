/**
 * Proof of authority: miners take turns in rounds of equal length
 * (consensus.md#proof-of-authority).
 */
import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { ConsensusData } from '../block/header.ts';
import { LOST_TURNS_MAX, type LostTurn } from '../block/turn-claims.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { type ActivationRules, feature, heightOfActivation } from '../tx/rules/features.ts';
import {
  type BlockFacts,
  type Consensus,
  type ConsensusView,
  checkMiner,
  type JudgedHeader,
  type Parent,
  type Slot,
} from './consensus.ts';
import { determineMiner, type MinerRotation, minerAfter, rotationAfter } from './miner-rotation.ts';
import { applyBans, type BanSettings } from './poa-bans.ts';
import { createRounds, type RoundSettings, type Rounds, skippedRounds } from './poa-rounds.ts';

export type PoaSettings = RoundSettings & BanSettings & ActivationRules;

export function createPoa(settings: PoaSettings, scheme: ChainScheme): Consensus {
  const rounds = createRounds(settings);
  const rotationAt = rememberingRotations(settings);
  const clearing: Consensus['clearing'] = (lost, parent, timestamp, view) => {
    const { rotation } = rotationAt(parent, timestamp, view);
    const isDelivering = (miner: Uint8Array): boolean =>
      delivers(miner, parent.height, rotation.queue.length * settings.warningsForBan, view);
    const own = lost.filter(({ generator }) => isDelivering(scheme.addressOf(generator)));
    return clearingTurns(own, rounds, parent.header, timestamp, rotation, scheme);
  };
  const skippedAt = (parent: Parent, timestamp: number): number =>
    skippedRounds(rounds, parent.header.timestamp, timestamp);

  return {
    kind: 'poa',
    nextSlot: (parent, miner, now, view) =>
      nextSlot(rounds, parent, now, (timestamp) => {
        const { rotation, until } = rotationAt(parent, timestamp, view);
        const due = minerAfter(rotation, skippedAt(parent, timestamp));
        const isDue =
          due !== undefined && equal(due, miner.address) && view.isMiner(miner.address, timestamp);
        return { isDue, size: rotation.queue.length, until };
      }),
    fields: (parent, _forger, timestamp) => ({
      kind: 'poa',
      skippedRounds: skippedUpTo(parent.header) + skippedAt(parent, timestamp),
    }),
    verifyHeader: (header, parent) => {
      checkTime(rounds, header, parent);
      const skipped = skippedAt(parent, header.timestamp);
      checkSkipped(header, skippedUpTo(parent.header) + skipped);
    },
    verify: (header, parent, view) => {
      const { timestamp } = header;
      const address = scheme.addressOf(header.generator);
      checkMiner(address, timestamp, view, scheme);
      checkTime(rounds, header, parent);
      const skipped = skippedAt(parent, timestamp);
      const due = determineMiner(rotationAt(parent, timestamp, view).rotation, skipped);
      if (!equal(due, address)) throw notItsTurn(address, due, parent.height, scheme);
      checkSkipped(header, skippedUpTo(parent.header) + skipped);
      checkClaims(header, skipped, (lost) => clearing(lost, parent, timestamp, view));
    },
    finish: (header, parent, view) =>
      applyBans(
        {
          height: parent.height + 1,
          timestamp: header.timestamp,
          generator: scheme.addressOf(header.generator),
          skipped: skippedAt(parent, header.timestamp),
          kept: lostTurnsOf(header).map(({ generator }) => scheme.addressOf(generator)),
        },
        rotationAt(parent, header.timestamp, view).rotation,
        settings,
        (address) => view.banHistory(address),
      ),
    turnOf: ({ timestamp }) => `round ${rounds.numberAt(timestamp)}`,
    hasEnded: ({ timestamp }, now, others = 0) =>
      rounds.numberAt(now) > rounds.numberAt(timestamp) + others,
    clearing,
    score: scorePoa,
  };
}

/**
 * An integer, without the time term of other implementations. This is possible because a block does
 * not contain its score (consensus.md#choice-between-forks).
 */
export function scorePoa(data: ConsensusData): bigint {
  return 2n ** 64n / (99n + BigInt(poaData(data).skippedRounds));
}

function poaData(data: ConsensusData): Extract<ConsensusData, { kind: 'poa' }> {
  if (data.kind === 'poa') return data;
  throw apiError('Invalid', 'Expected PoA consensus block data, but got PoS instead');
}

const skippedUpTo = (block: BlockFacts): number => poaData(block.consensus).skippedRounds;

/** H-8: the number enters the score, so a miner must not state a lower one. */
function checkSkipped(header: JudgedHeader, expected: number): void {
  const claimed = skippedUpTo(header);
  if (claimed === expected) return;
  throw ofBlock(header, `overall skipped rounds ${claimed} do not match calculated ${expected}`);
}

const lostTurnsOf = ({ consensus }: BlockFacts): readonly LostTurn[] =>
  poaData(consensus).claims?.lost ?? [];

/** A block has claims after skipped rounds only, and none that clear nothing. */
function checkClaims(
  header: JudgedHeader,
  skipped: number,
  clearing: (lost: readonly LostTurn[]) => LostTurn[],
): void {
  if (poaData(header.consensus).claims === undefined) return;
  if (skipped === 0) throw ofBlock(header, 'claims a turn, but no round was skipped');
  const lost = lostTurnsOf(header);
  const found = clearing(lost);
  const isExact = found.length === lost.length && found.every((turn, i) => turn === lost[i]);
  if (!isExact) throw ofBlock(header, 'claims turns that nobody has missed');
}

/**
 * Whether one of the last blocks is of this miner. A header costs nothing, so a miner that announces
 * headers and never a block would otherwise keep its turn for ever. In a new chain everybody counts.
 */
function delivers(
  miner: Uint8Array,
  height: number,
  blocks: number,
  view: Pick<ConsensusView, 'lastBlockBy'>,
): boolean {
  const before = height - blocks;
  return before < 1 || (view.lastBlockBy(miner, height) ?? 0) > before;
}

function clearingTurns(
  lost: readonly LostTurn[],
  rounds: Rounds,
  parent: BlockFacts,
  timestamp: number,
  rotation: MinerRotation,
  scheme: ChainScheme,
): LostTurn[] {
  const byRound = new Map<number, LostTurn>();
  for (const turn of lost) {
    const round = rounds.numberAt(turn.timestamp);
    const isBetween =
      round > rounds.numberAt(parent.timestamp) && round < rounds.numberAt(timestamp);
    if (!isBetween || turn.timestamp >= rounds.syncStart(round) || byRound.has(round)) continue;
    const due = minerAfter(rotation, skippedRounds(rounds, parent.timestamp, turn.timestamp));
    const isDue = due !== undefined && equal(due, scheme.addressOf(turn.generator));
    if (isDue) byRound.set(round, turn);
  }
  return [...byRound.keys()]
    .sort((a, b) => a - b)
    .slice(0, LOST_TURNS_MAX)
    .map((round) => byRound.get(round)!);
}

/** A block belongs in the working part of a round later than that of its parent. */
function checkTime(rounds: Rounds, header: JudgedHeader, parent: Parent): void {
  const { timestamp } = header;
  const round = rounds.numberAt(timestamp);
  const parentRound = rounds.numberAt(parent.header.timestamp);
  if (round === parentRound) {
    throw apiError('Invalid', 'Block is in the same round as its referenced block');
  }
  if (round < parentRound) {
    const end = rounds.end(parentRound);
    throw ofBlock(
      header,
      `timestamp is before the end of its parent's round (${timestamp} <= ${end})`,
    );
  }
  const syncStart = rounds.syncStart(round);
  if (timestamp >= syncStart) {
    throw ofBlock(header, `timestamp is after sync start (${timestamp} >= ${syncStart})`);
  }
  const end = rounds.end(round);
  if (timestamp >= end) {
    throw ofBlock(header, `timestamp is after round end (${timestamp} >= ${end})`);
  }
}

const ofBlock = (header: JudgedHeader, what: string): ApiError =>
  apiError('Invalid', `Block's ${base58.encode(header.signature)} ${what}`);

const notItsTurn = (
  signer: Uint8Array,
  due: Uint8Array,
  height: number,
  scheme: ChainScheme,
): ApiError =>
  apiError(
    'Invalid',
    `Block signer ${scheme.addressToText(signer)} isn't a valid miner for height ${height}; ` +
      `Expected ${scheme.addressToText(due)}`,
  );

/** The rotation while the queue stays as it is. */
interface TimedRotation {
  /** Height of the parent. */
  readonly height: number;
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
  readonly rotation: MinerRotation;
}

/**
 * The rotation at a time. Each view remembers those it was asked for, so that a head that is asked every
 * second reads its queue once.
 */
function rememberingRotations(
  settings: BanSettings & ActivationRules,
): (parent: Parent, timestamp: number, view: ConsensusView) => TimedRotation {
  const known = new WeakMap<ConsensusView, TimedRotation[]>();
  return ({ height }, timestamp, view) => {
    const rotations = known.get(view) ?? [];
    known.set(view, rotations);
    const found = rotations.find(
      (one) => one.height === height && one.from <= timestamp && timestamp < one.until,
    );
    if (found !== undefined) return found;
    const { members, until } = view.minersAt(timestamp);
    const { liveness } = feature;
    const activation = heightOfActivation(liveness, view.approvedAt(liveness), settings);
    const hasPardon = activation !== undefined && height + 1 >= activation;
    const rotation = rotationAfter(members, height, settings.banDurationBlocks, hasPardon, view);
    const timed = { height, from: timestamp, until, rotation };
    rotations.push(timed);
    if (rotations.length > ROTATIONS_MAX) rotations.shift();
    return timed;
  };
}

/** Recorded changes of the queue up to which a slot is searched for at once. */
const CHANGES_MAX = 16;
/** Rotations kept for one head; a later search begins with what is known of an earlier one. */
const ROTATIONS_MAX = 2 * CHANGES_MAX;

interface RoundTurn {
  readonly isDue: boolean;
  /** Members of the queue. */
  readonly size: number;
  /** The queue is the same until this time. */
  readonly until: number;
}

/**
 * Turns repeat after as many rounds as there are miners, and those of banned miners come one such
 * time later, so the search ends there. It ends sooner where the queue changes often: who asks again
 * then finds a later slot.
 */
function nextSlot(
  rounds: Rounds,
  parent: Parent,
  now: number,
  turnAt: (timestamp: number) => RoundTurn,
): Slot | undefined {
  const until = (round: number): number => Math.min(rounds.syncStart(round), rounds.end(round));
  let first = Math.max(rounds.numberAt(now), rounds.numberAt(parent.header.timestamp) + 1);
  if (now >= until(first)) first += 1;
  const from = (round: number): number => Math.max(now, rounds.start(round));
  let queueEnds = -Infinity;
  for (let round = first, changes = 0, size = 1; round < first + 2 * size; round++) {
    const turn = turnAt(from(round));
    if (turn.isDue) return { start: rounds.start(round), from: from(round), until: until(round) };
    if (from(round) < queueEnds) continue;
    if (++changes > CHANGES_MAX) return undefined;
    queueEnds = turn.until;
    size = turn.size;
  }
  return undefined;
}
