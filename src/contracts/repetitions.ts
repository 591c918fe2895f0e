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
}

export const ATTEMPTS_MAX = 10;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
const KNOWN_MAX = 50_000;

export function createRepetitions({ monotonic }: Pick<Clock, 'monotonic'>): Repetitions {
  const known = new Recent<string, { readonly failures: number; readonly until: number }>(
    KNOWN_MAX,
  );
  return {
    isDue: (key) => (known.get(key)?.until ?? 0) <= monotonic(),
    has: (key) => known.get(key) !== undefined,
    failed(key) {
      const failures = (known.get(key)?.failures ?? 0) + 1;
      if (failures >= ATTEMPTS_MAX) {
        known.delete(key);
        return false;
      }
      const pause = Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX);
      known.set(key, { failures, until: monotonic() + pause });
      return true;
    },
  };
}
