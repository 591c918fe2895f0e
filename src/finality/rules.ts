/**
 * The rules that an engine runs. Two stand here: the note of a voter that lost its own, and when a miner goes
 * on without finality.
 */
import { type Link, mayVote } from './votes/links.ts';
import { decidingSets, quorum } from './votes/voter-sets.ts';

/** A voter that lost the note of its last vote (finality.md#notes). */
export interface Loss {
  /** Highest final block that is dated at or before the start without a note. */
  readonly finalAtStart: number;
  /** `max-rollback`. */
  readonly maxRollback: number;
}

/**
 * The note with which the voter goes on once the block at height `final` is final, or undefined.
 * A block that became final after the loss has votes of a quorum from after it, so nothing that was
 * signed before can contradict it. The margin of `2 · maxRollback` only spares false evidence. The
 * note is that of a vote that made this block final, so what the voter signs from here on surrounds
 * little that it signed before.
 */
export const noteAfterLoss = (
  { finalAtStart, maxRollback }: Loss,
  final: number,
): Link | undefined =>
  final > finalAtStart + 2 * maxRollback ? { source: final, target: final + 1 } : undefined;

export interface Progress {
  /** Height of the block to be made. */
  readonly height: number;
  /** Highest final block that this node knows. */
  readonly final: number;
  /** `max-rollback`. */
  readonly maxRollback: number;
  /** A quorum of each deciding set is connected now, this node included. */
  readonly isQuorumConnected: boolean;
  /** A quorum of each deciding set has voted, as far as is known, for any block at the parent's height or above. */
  readonly hasQuorumVoted: boolean;
  /** The block carries a justification that its chain lacks. */
  readonly carriesJustification: boolean;
}

/**
 * How far a chain goes on without finality (finality.md#waiting). It decides what a node makes, and makes no
 * block invalid.
 */
export function mayMakeBlock(progress: Progress): boolean {
  const { height, final, maxRollback } = progress;
  if (height <= final + maxRollback) return true;
  const { isQuorumConnected, hasQuorumVoted, carriesJustification } = progress;
  return isQuorumConnected && (hasQuorumVoted || carriesJustification);
}

/** Together, so that a simulation can show what each one is for. */
export const rules = { quorum, decidingSets, mayVote, noteAfterLoss, mayMakeBlock };

export type Rules = typeof rules;
