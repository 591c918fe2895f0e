/**
 * The attempts at transactions that have failed and stay in the pool: each waits longer than the one
 * before, and there are few (contracts.md#what-a-call-that-fails-costs). What the system around holds
 * up, such as a registry that does not answer, costs no attempt, but comes to an end as well.
 */
import { roundLimits as limits } from '../../base/limits/round-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';

export interface Repetitions {
  /** False while a transaction waits for its next attempt. */
  isDue(key: string): boolean;
  /** True for a transaction that has failed before. */
  has(key: string): boolean;
  /** Notes a failure; false where it was the last attempt. */
  failed(key: string): boolean;
  /** Notes a failure of the system around; false where it has held up the transaction for too long. */
  heldUp(key: string): boolean;
}

interface Attempts {
  readonly failures: number;
  readonly pauses: number;
  /** Monotonic time at which the system around first held it up. */
  readonly heldUpSince: number | undefined;
  /** End of the pause. */
  readonly until: number;
}

export const ATTEMPTS_MAX = limits.attempts.value;
export const HELD_UP_MS_MAX = limits.heldUp.value;
const PAUSE_MS = limits.pause.value;
const PAUSE_MS_MAX = limits.pauseMax.value;
const KNOWN_MAX = 50_000;

export function createRepetitions({ monotonic }: Pick<Clock, 'monotonic'>): Repetitions {
  const known = new BoundedCache<string, Attempts>(KNOWN_MAX);

  const at = (key: string): Attempts => known.get(key) ?? NONE;

  /** False where that was the last time. */
  function noted(key: string, now: Omit<Attempts, 'until'>, isLast: boolean): boolean {
    const ms = Math.min(PAUSE_MS * 2 ** (now.pauses - 1), PAUSE_MS_MAX);
    if (isLast) known.delete(key);
    else known.set(key, { ...now, until: monotonic() + ms });
    return !isLast;
  }

  return {
    isDue: (key) => at(key).until <= monotonic(),
    has: (key) => known.get(key) !== undefined,
    failed(key) {
      const { failures, pauses, heldUpSince } = at(key);
      const now = { failures: failures + 1, pauses: pauses + 1, heldUpSince };
      return noted(key, now, now.failures >= ATTEMPTS_MAX);
    },
    heldUp(key) {
      const { failures, pauses, heldUpSince = monotonic() } = at(key);
      const isLast = monotonic() - heldUpSince >= HELD_UP_MS_MAX;
      return noted(key, { failures, pauses: pauses + 1, heldUpSince }, isLast);
    },
  };
}

const NONE: Attempts = { failures: 0, pauses: 0, heldUpSince: undefined, until: 0 };
