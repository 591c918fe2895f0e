/**
 * Which account may make the next block, when it may, and which of two chains is better: one
 * interface for both kinds of consensus (consensus.md#proof-of-stake,
 * consensus.md#proof-of-authority).
 *
 * Every function here depends on its arguments only. All judgements about a block, `finish`
 * included, use the state at its parent: `view` must not contain effects of the block itself.
 */
import { compare, equal, latin1 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { ConsensusData, UnsignedHeader } from '../block/header.ts';
import type { LostTurn } from '../block/turn-claims.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { MinerQueue } from '../ledger/miner-queue.ts';
import type { BanHistory } from './ban-history.ts';

/**
 * What consensus may read of chain and state at the parent. Addresses are 26 bytes. One view has one
 * parent, and gives the same answers as long as it is used.
 */
export interface ConsensusView {
  /** Those with an active role `miner` at a time after the parent (consensus.md#the-miner-queue). */
  minersAt(timestamp: number): MinerQueue;
  /** True if the address has an active role `miner` and is not banned by role at that time. */
  isMiner(address: Uint8Array, timestamp: number): boolean;
  banHistory(address: Uint8Array): BanHistory | undefined;
  /** The height at which votes have approved a feature (state.md#features). */
  approvedAt(feature: number): number | undefined;
  /** The address of the generator of the block at a height, at most that of the parent. */
  generatorAt(height: number): Uint8Array;
  /** The height of the last block at or below `height` that the address made. */
  lastBlockBy(address: Uint8Array, height: number): number | undefined;
  headerAt(height: number): BlockFacts;
  /**
   * Generating balance (consensus.md#generating-balance) at a height, at most that of the parent;
   * only PoS uses it.
   */
  generatingBalance(address: Uint8Array, height: number): bigint;
}

/** The fields of a block on which the rules for its child depend. */
export type BlockFacts = Pick<UnsignedHeader, 'timestamp' | 'consensus'>;

export interface Parent {
  readonly height: number;
  readonly header: BlockFacts;
}

/** The account that wants to make a block. */
export interface MinerIdentity {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** A span of time in which an account may make the next block: from ≤ timestamp < until. */
export interface Slot {
  /** The beginning of the turn, which may be over when the slot is asked for. */
  readonly start: number;
  readonly from: number;
  /** Infinity where only a new head ends the slot. */
  readonly until: number;
}

/** A changed row of the table `bans`; undefined removes it. */
export interface BanChange {
  readonly address: Uint8Array;
  readonly history: BanHistory | undefined;
}

/** A block header, with the signature that error texts contain. */
export type JudgedHeader = BlockFacts & {
  readonly generator: Uint8Array;
  readonly signature: Uint8Array;
};

export interface Consensus {
  readonly kind: 'poa' | 'pos';
  /**
   * The first slot of this account at or after `now`. Undefined: there is none until the head, the
   * roles or the balances change.
   */
  nextSlot(
    parent: Parent,
    miner: MinerIdentity,
    now: number,
    view: ConsensusView,
  ): Slot | undefined;
  /** The consensus data of a block that this account makes at `timestamp`. */
  fields(
    parent: Parent,
    miner: MinerIdentity,
    timestamp: number,
    view: ConsensusView,
  ): ConsensusData;
  /**
   * Refuses a block whose header contradicts the headers before it, in any state. Throws ApiError.
   */
  verifyHeader(header: JudgedHeader, parent: Parent, view: Pick<ConsensusView, 'headerAt'>): void;
  /**
   * Refuses a block that breaks a rule, also one of `verifyHeader`. Throws ApiError with the texts
   * of the specification.
   */
  verify(header: JudgedHeader, parent: Parent, view: ConsensusView): void;
  /** The warnings and bans of miners that a valid block causes. */
  finish(header: JudgedHeader, parent: Parent, view: ConsensusView): BanChange[];
  /**
   * The turn, which a generator may use for one block only. Two different blocks of one generator
   * with equal text are an equivocation (consensus.md#equivocation).
   */
  turnOf(header: Pick<UnsignedHeader, 'timestamp' | 'reference'>): string;
  /**
   * True where the turn of a block is over at this time, and `others` more rounds after it. A turn
   * under PoS never ends.
   */
  hasEnded(header: Pick<UnsignedHeader, 'timestamp'>, now: number, others?: number): boolean;
  /**
   * The turns among these for which a block at `timestamp` marks nobody, where it carries them: of
   * the miner whose turn the round was, between the parent and the block. Ascending, one for each
   * round, at most LOST_TURNS_MAX. None under PoS.
   */
  clearing(
    turns: readonly LostTurn[],
    parent: Parent,
    timestamp: number,
    view: ConsensusView,
  ): LostTurn[];
  /**
   * The score of one block; the score of a chain is the sum over its blocks, genesis included
   * (consensus.md#choice-between-forks).
   */
  score(data: ConsensusData): bigint;
}

/** A block this far ahead of the clock, or more, is from the future. */
const MAX_TIME_DRIFT_MS = 100;

/**
 * A block from the future is dropped. It is not remembered as invalid, and its sender is not
 * punished (blocks.md#checks-of-a-received-block).
 */
export const isFromFuture = (timestamp: number, now: number): boolean =>
  timestamp - now >= MAX_TIME_DRIFT_MS;

/**
 * Only accounts with the role `miner` make blocks, under both kinds of consensus
 * (blocks.md#checks-of-a-received-block). Throws ApiError.
 */
export function checkMiner(
  address: Uint8Array,
  timestamp: number,
  view: Pick<ConsensusView, 'isMiner'>,
  scheme: ChainScheme,
): void {
  if (view.isMiner(address, timestamp)) return;
  throw apiError('Invalid', `Address ${scheme.addressToText(address)} is not a miner`);
}

/** The end of a chain, with what the choice between two chains needs. */
export interface ChainEnd {
  readonly score: bigint;
  readonly id: Uint8Array;
  /** Id of the parent. */
  readonly reference: Uint8Array;
  readonly timestamp: number;
}

/**
 * True if `candidate` replaces `current`. The higher score wins. Equal scores keep the current
 * chain, except for two children of one parent: all nodes take the same one of them (H-9: ties between
 * siblings). Under PoS that is the earlier one: a miner can sign until its id is the lowest, and no
 * time before its own delay is valid.
 */
export function isBetter(candidate: ChainEnd, current: ChainEnd, kind: Consensus['kind']): boolean {
  if (candidate.score !== current.score) return candidate.score > current.score;
  if (!equal(candidate.reference, current.reference)) return false;
  if (kind === 'pos' && candidate.timestamp !== current.timestamp) {
    return candidate.timestamp < current.timestamp;
  }
  return compare(candidate.id, current.id) < 0;
}

/** Names the turn of a generator. */
export const turnKey = (
  header: Pick<UnsignedHeader, 'generator' | 'timestamp' | 'reference'>,
  consensus: Pick<Consensus, 'turnOf'>,
): string => `${latin1(header.generator)} ${consensus.turnOf(header)}`;
