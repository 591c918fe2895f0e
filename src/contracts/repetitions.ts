/**
 * The attempts at transactions that have failed and stay in the pool: each waits longer than the one
 * before, and there are few (contracts.md#what-a-call-that-fails-costs).
 */
import type { Clock } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';

export interface Repetitions {
  /** False while a transaction waits for its next attempt. */
  isDue(key: string): boolean;
  /** True for a transaction that has failed before. */
  has(key: string): boolean;
  /** Notes a failure; false where it was the last attempt. */
  failed(key: string): boolean;
  /** Notes a failure of the system around, such as a registry that does not answer: a pause only. */
  heldUp(key: string): void;
}

interface Attempts {
  readonly failures: number;
  readonly pauses: number;
  /** End of the pause. */
  readonly until: number;
}

export const ATTEMPTS_MAX = 10;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
const KNOWN_MAX = 50_000;

export function createRepetitions({ monotonic }: Pick<Clock, 'monotonic'>): Repetitions {
  const known = new Recent<string, Attempts>(KNOWN_MAX);

  function pause(key: string, failures: number, pauses: number): void {
    const ms = Math.min(PAUSE_MS * 2 ** pauses, PAUSE_MS_MAX);
    known.set(key, { failures, pauses: pauses + 1, until: monotonic() + ms });
  }

  return {
    isDue: (key) => (known.get(key)?.until ?? 0) <= monotonic(),
    has: (key) => known.get(key) !== undefined,
    failed(key) {
      const { failures: before = 0, pauses = 0 } = known.get(key) ?? {};
      const failures = before + 1;
      if (failures >= ATTEMPTS_MAX) {
        known.delete(key);
        return false;
      }
      pause(key, failures, pauses);
      return true;
    },
    heldUp(key) {
      const { failures = 0, pauses = 0 } = known.get(key) ?? {};
      pause(key, failures, pauses);
    },
  };
}
