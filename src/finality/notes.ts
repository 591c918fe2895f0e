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
