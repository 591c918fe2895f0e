/** A voter that lost the note of its last vote (finality.md#notes). */
import type { Link } from './links.ts';

export interface Loss {
  /** Highest final block that is dated at or before the start without a note. */
  readonly finalAtStart: number;
  /** `max-rollback`. */
  readonly maxRollback: number;
}

/**
 * The note with which the voter goes on once the block at height `final` is final, or undefined.
 * No vote before the loss was for a target above `finalAtStart + 2 · maxRollback`, since no block was.
 * The note is that of a vote that made this block final, so what it signs from here on surrounds
 * nothing that it signed before.
 */
export const noteAfterLoss = (
  { finalAtStart, maxRollback }: Loss,
  final: number,
): Link | undefined =>
  final > finalAtStart + 2 * maxRollback ? { source: final, target: final + 1 } : undefined;
