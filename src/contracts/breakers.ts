/**
 * Circuit breakers. A sender whose calls of a contract fail ten times in a row waits, for longer each
 * time, and so does a contract whose container does not start; after five rests the transactions
 * leave the pool. One sender cannot make a contract rest for others.
 *
 * Where a hundred different images rest by failures of the system, and nothing has succeeded since,
 * the engine is at fault. Then everything waits but contracts that have succeeded last, whose next
 * success ends it.
 */
import type { Clock } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';

export type BreakerState =
  /** Runs may begin. */
  | 'closed'
  /** The transaction waits. */
  | 'open'
  /** It has rested too often: the transactions are dropped. */
  | 'spent';

export interface Cause {
  /** Whose call has failed; undefined: the container did not start, for anybody. */
  readonly sender: string | undefined;
  /** The hash of the image, where the system has failed. */
  readonly image: string | undefined;
}

export interface Breakers {
  state(contract: string, sender: string): BreakerState;
  failed(contract: string, cause: Cause): void;
  succeeded(contract: string, sender: string): void;
  /** The contract has refused a call of the sender, who loses nothing by it. */
  refused(contract: string, sender: string): void;
  /** True where the last run of the contract for the sender had no success. */
  isFailing(contract: string, sender: string): boolean;
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
/** Different images that rest by failures of the system. */
export const IMAGES_MAX = 100;
const KNOWN_MAX = 10_000;

export function createBreakers({ monotonic }: Pick<Clock, 'monotonic'>): Breakers {
  /** By contract, and by contract and sender. */
  const breakers = new Recent<string, Breaker>(KNOWN_MAX);
  /** Contracts and senders whose last run had no success. */
  const failing = new Recent<string, true>(KNOWN_MAX);
  /** Contracts whose last run has succeeded. */
  const good = new Recent<string, true>(KNOWN_MAX);
  /** Ends of the rests by image; those in the past are forgotten when the limit is reached. */
  const resting = new Map<string, number>();

  function isEngineAtFault(): boolean {
    if (resting.size < IMAGES_MAX) return false;
    const now = monotonic();
    for (const [image, until] of resting) if (until <= now) resting.delete(image);
    return resting.size >= IMAGES_MAX;
  }

  function stateOf(key: string): BreakerState {
    const breaker = breakers.get(key);
    if (breaker === undefined || breaker.until <= monotonic()) return 'closed';
    return breaker.openings >= OPENINGS_MAX ? 'spent' : 'open';
  }

  function succeeded(contract: string, sender: string): void {
    const pair = pairOf(contract, sender);
    breakers.delete(contract);
    breakers.delete(pair);
    failing.delete(pair);
    good.set(contract, true);
    resting.clear();
  }

  return {
    state(contract, sender) {
      const own = stateOf(contract);
      const state = own === 'closed' ? stateOf(pairOf(contract, sender)) : own;
      if (state !== 'closed') return state;
      return good.get(contract) === undefined && isEngineAtFault() ? 'open' : 'closed';
    },
    failed(contract, { sender, image }) {
      const key = sender === undefined ? contract : pairOf(contract, sender);
      const breaker = breakers.get(key) ?? { failures: 0, openings: 0, until: 0 };
      breaker.failures++;
      if (breaker.failures >= FAILURES_MAX) {
        const rest = Math.min(REST_MS * 2 ** breaker.openings, REST_MS_MAX);
        // After failures of the system around, transactions wait, however long that takes.
        const openingsMax = image === undefined ? OPENINGS_MAX : OPENINGS_MAX - 1;
        breaker.openings = Math.min(breaker.openings + 1, openingsMax);
        breaker.until = monotonic() + rest;
        if (image !== undefined) resting.set(image, breaker.until);
      }
      breakers.set(key, breaker);
      failing.set(key, true);
      if (image !== undefined) good.delete(contract);
    },
    succeeded,
    refused(contract, sender) {
      succeeded(contract, sender);
      failing.set(pairOf(contract, sender), true);
    },
    isFailing: (contract, sender) => failing.get(pairOf(contract, sender)) !== undefined,
  };
}

const pairOf = (contract: string, sender: string): string => `${contract} ${sender}`;
