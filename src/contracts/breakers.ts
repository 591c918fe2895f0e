/**
 * Circuit breakers: a contract whose runs fail ten times in a row rests, for longer each time. After
 * five rests its transactions leave the pool. Where a hundred contracts rest at once, the engine is
 * at fault, and all contract transactions leave.
 */
import type { Clock } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';

export type BreakerState =
  /** Runs may begin. */
  | 'closed'
  /** The contract rests. */
  | 'open'
  /** It has rested too often: its transactions are dropped. */
  | 'spent';

export interface Breakers {
  state(contract: string): BreakerState;
  failed(contract: string): void;
  succeeded(contract: string): void;
}

interface Breaker {
  failures: number;
  openings: number;
  /** Monotonic time at which the next run may begin. */
  until: number;
}

export const FAILURES_MAX = 10;
const OPENINGS_MAX = 5;
const REST_MS = 5_000;
const REST_MS_MAX = 60_000;
const OPEN_MAX = 100;
const KNOWN_MAX = 10_000;

export function createBreakers({ monotonic }: Pick<Clock, 'monotonic'>): Breakers {
  const breakers = new Recent<string, Breaker>(KNOWN_MAX);
  /** Ends of the rests by contract; those in the past are forgotten when the limit is reached. */
  const resting = new Map<string, number>();

  function isEngineAtFault(): boolean {
    if (resting.size < OPEN_MAX) return false;
    const now = monotonic();
    for (const [contract, until] of resting) if (until <= now) resting.delete(contract);
    return resting.size >= OPEN_MAX;
  }

  return {
    state(contract) {
      if (isEngineAtFault()) return 'spent';
      const breaker = breakers.get(contract);
      if (breaker === undefined || breaker.until <= monotonic()) return 'closed';
      return breaker.openings >= OPENINGS_MAX ? 'spent' : 'open';
    },
    failed(contract) {
      const breaker = breakers.get(contract) ?? { failures: 0, openings: 0, until: 0 };
      breaker.failures++;
      if (breaker.failures >= FAILURES_MAX) {
        const rest = Math.min(REST_MS * 2 ** breaker.openings, REST_MS_MAX);
        breaker.openings = Math.min(breaker.openings + 1, OPENINGS_MAX);
        breaker.until = monotonic() + rest;
        resting.set(contract, breaker.until);
      }
      breakers.set(contract, breaker);
    },
    succeeded(contract) {
      breakers.delete(contract);
      resting.delete(contract);
    },
  };
}
