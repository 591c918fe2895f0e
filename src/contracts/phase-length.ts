/**
 * How long a miner may execute contracts for one block (contracts.md#the-round-of-a-miner).
 *
 * The block must be signed, on disk and on its way when the turn of its miner ends, whatever the
 * contracts do.
 */
import { roundLimits as limits } from '../base/limits/round-limits.ts';

/** Time to complete a block in its round: a fifth of it, within these limits. */
const COMPLETION_SHARE = limits.completion.value;
const COMPLETION_MS_MIN = limits.completionMin.value;
const COMPLETION_MS_MAX = limits.completionMax.value;
/**
 * The part ends earlier where blocks have taken longer to complete, but keeps all but an eighth: a
 * call of the longest time that is allowed still fits in (contract-packer.ts).
 */
const EARLIER_SHARE = limits.completionMore.value;
/** Under proof of stake a block is late by what its contracts take: this part of the delay at most. */
const STAKE_SHARE = limits.stakeShare.value;

export type Round =
  | { readonly type: 'poa'; readonly roundMs: number }
  | { readonly type: 'pos'; readonly averageDelayMs: number };

const completionMs = (roundMs: number): number =>
  Math.max(COMPLETION_MS_MIN, Math.min(COMPLETION_MS_MAX, Math.floor(roundMs / COMPLETION_SHARE)));

/** The time for contracts in a whole round. */
export const phaseMs = (round: Round): number =>
  round.type === 'pos'
    ? Math.floor(round.averageDelayMs / STAKE_SHARE)
    : Math.max(0, round.roundMs - completionMs(round.roundMs));

/** Time for containers to end calls after the phase: no other one begins before that. */
export const graceMs = (round: Round): number =>
  round.type === 'pos' ? COMPLETION_MS_MIN : completionMs(round.roundMs);

/**
 * When contracts must have ended in a slot that is used from `now` on and ends at `until`, where a
 * block of this node has taken so long to complete of late.
 */
export function phaseEnd(round: Round, now: number, until: number, completedInMs: number): number {
  if (round.type === 'pos') return now + phaseMs(round);
  const usual = completionMs(round.roundMs);
  const more = Math.min(completedInMs - usual, Math.floor(phaseMs(round) / EARLIER_SHARE));
  return until - usual - Math.max(0, more);
}

export interface CompletionTimes {
  add(ms: number): void;
  /** Of the last few blocks; 0 before the first one. */
  longest(): number;
}

/** Blocks of this node; one of its rounds that was slow is forgotten after so many others. */
const REMEMBERED = limits.completionBlocks.value;

/**
 * How long the last blocks of this node took from the end of their contract part until they were in the
 * chain: on a busy machine the part ends late, and signing and writing take their time too.
 */
export function createCompletionTimes(): CompletionTimes {
  const times: number[] = [];
  return {
    add(ms) {
      times.push(ms);
      if (times.length > REMEMBERED) times.shift();
    },
    longest: () => Math.max(0, ...times),
  };
}
