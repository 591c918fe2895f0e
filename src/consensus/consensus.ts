/**
 * Who may make the next block and when, and which chain is better: one interface for both kinds of
 * consensus (consensus.md#proof-of-stake, consensus.md#proof-of-authority).
 *
 * Everything here is a function of its arguments. All judgements about a block, `finish` included,
 * use the state at its parent: `view` must not yet contain effects of the block itself.
 */
import { compare, equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { ConsensusData, UnsignedHeader } from '../block/header.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { BanHistory } from './ban-history.ts';

/** What consensus may know of chain and state at the parent. Addresses are 26 bytes. */
export interface ConsensusView {
  /** Addresses with an active role `miner` at that time, in queue order (consensus.md#the-miner-queue). */
  minersAt(timestamp: number): readonly Uint8Array[];
  /** True if the address has an active role `miner` and is not banned by role at that time. */
  isMiner(address: Uint8Array, timestamp: number): boolean;
  banHistory(address: Uint8Array): BanHistory | undefined;
  /** Address of the generator of the block at a height up to the parent's. */
  generatorAt(height: number): Uint8Array;
  /** Height of the last block at or below `height` that the address made. */
  lastBlockBy(address: Uint8Array, height: number): number | undefined;
  headerAt(height: number): BlockFacts;
  /** Generating balance (consensus.md#generating-balance) at a height up to the parent's; used by PoS alone. */
  generatingBalance(address: Uint8Array, height: number): bigint;
}

/** What rules about a child need of a block. */
export type BlockFacts = Pick<UnsignedHeader, 'timestamp' | 'consensus'>;

export interface Parent {
  readonly height: number;
  readonly header: BlockFacts;
}

/** The account that wants to make a block. */
export interface Forger {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** A span of time in which an account may make the next block: from ≤ timestamp < until. */
export interface Slot {
  readonly from: number;
  /** Infinity where only a new tip ends the slot. */
  readonly until: number;
}

/** A changed row of the table `bans`; undefined removes it. */
export interface BanChange {
  readonly address: Uint8Array;
  readonly history: BanHistory | undefined;
}

/** A block header with the signature that error texts name. */
export type JudgedHeader = BlockFacts & {
  readonly generator: Uint8Array;
  readonly signature: Uint8Array;
};

export interface Consensus {
  readonly kind: 'poa' | 'pos';
  /** Name in GET /consensus/algo. */
  readonly algorithm: string;
  /**
   * The first slot of this account at or after `now`. Undefined: none until the tip, the roles or
   * the balances change.
   */
  nextSlot(parent: Parent, forger: Forger, now: number, view: ConsensusView): Slot | undefined;
  /** Consensus data of a block that this account makes at `timestamp`. */
  fields(parent: Parent, forger: Forger, timestamp: number, view: ConsensusView): ConsensusData;
  /**
   * Refuses a block whose header contradicts the headers before it, whatever the state. Throws
   * ApiError.
   */
  verifyHeader(header: JudgedHeader, parent: Parent, view: Pick<ConsensusView, 'headerAt'>): void;
  /**
   * Refuses a block that breaks a rule, those of `verifyHeader` included. Throws ApiError with the
   * texts of the specification.
   */
  verify(header: JudgedHeader, parent: Parent, view: ConsensusView): void;
  /** Marks on miners that a valid block leaves behind. */
  finish(header: JudgedHeader, parent: Parent, view: ConsensusView): BanChange[];
  /**
   * What a generator may use for one block only: two different blocks of one generator with equal
   * text are an equivocation (consensus.md#equivocation).
   */
  turnOf(header: Pick<UnsignedHeader, 'timestamp' | 'reference'>): string;
  /** Score of one block; the score of a chain is their sum, genesis included (consensus.md#choice-between-forks). */
  score(data: ConsensusData): bigint;
}

/** Blocks this far ahead of the clock, or more, are from the future. */
export const MAX_TIME_DRIFT_MS = 100;

/** Such a block is dropped, neither remembered as invalid nor punished (blocks.md#checks-of-a-received-block). */
export const isFromFuture = (timestamp: number, now: number): boolean =>
  timestamp - now >= MAX_TIME_DRIFT_MS;

/** Only accounts with the role make blocks, under either consensus (blocks.md#checks-of-a-received-block). Throws ApiError. */
export function checkMiner(
  address: Uint8Array,
  timestamp: number,
  view: Pick<ConsensusView, 'isMiner'>,
  scheme: ChainScheme,
): void {
  if (view.isMiner(address, timestamp)) return;
  throw apiError('Invalid', `Address ${scheme.addressToText(address)} is not a miner`);
}

/** The end of a chain, as far as the choice between two chains needs it. */
export interface ChainEnd {
  readonly score: bigint;
  readonly id: Uint8Array;
  /** Id of the parent. */
  readonly reference: Uint8Array;
}

/**
 * True if `candidate` replaces `current`. The higher score wins and equal scores keep the current
 * chain, except that of two children of one parent the lower id wins, so that nodes converge (H-9).
 */
export function isBetter(candidate: ChainEnd, current: ChainEnd): boolean {
  if (candidate.score !== current.score) return candidate.score > current.score;
  return equal(candidate.reference, current.reference) && compare(candidate.id, current.id) < 0;
}
