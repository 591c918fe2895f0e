/**
 * Circuit breakers. A sender whose calls of a contract fail ten times in a row waits, for longer each
 * time, and so does a contract whose container does not start; in the fifth rest the transactions
 * leave the pool, unless the system around is at fault, such as a registry that does not answer. One
 * sender cannot make a contract rest for others.
 *
 * Where a hundred different images rest by failures of the system, and nothing has succeeded since,
 * the engine is at fault. Then everything waits but contracts that have succeeded last, whose next
 * success ends it. The images of one creator are half of them at most.
 */
import { roundLimits as limits } from '../../base/limits/round-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';

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
  /** Where the system around has failed. */
  readonly outage: Outage | undefined;
}

export interface Outage {
  readonly imageHash: string;
  /** Creator of the contract. */
  readonly creator: string;
}

export interface CircuitBreakers {
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

export const FAILURES_MAX = limits.failures.value;
const OPENINGS_MAX = limits.rests.value;
const REST_MS = limits.rest.value;
const REST_MS_MAX = limits.restMax.value;
/** Different images that rest by failures of the system, and those of one creator that count. */
export const IMAGES_MAX = limits.restingImages.value;
export const IMAGES_OF_ONE_MAX = limits.restingImagesOfOne.value;
const KNOWN_MAX = 10_000;

export function createCircuitBreakers({ monotonic }: Pick<Clock, 'monotonic'>): CircuitBreakers {
  /** By contract, and by contract and sender. */
  const breakers = new BoundedCache<string, Breaker>(KNOWN_MAX);
  /** Contracts and senders whose last run had no success. */
  const failing = new BoundedCache<string, true>(KNOWN_MAX);
  /** Contracts whose last run has succeeded. */
  const good = new BoundedCache<string, true>(KNOWN_MAX);
  const resting = createRestingImages(monotonic);

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
      return good.get(contract) === undefined && resting.areMany() ? 'open' : 'closed';
    },
    failed(contract, { sender, outage }) {
      const key = sender === undefined ? contract : pairOf(contract, sender);
      const breaker = breakers.get(key) ?? { failures: 0, openings: 0, until: 0 };
      breaker.failures++;
      if (breaker.failures >= FAILURES_MAX) {
        breaker.until = monotonic() + Math.min(REST_MS * 2 ** breaker.openings, REST_MS_MAX);
        const openingsMax = outage === undefined ? OPENINGS_MAX : OPENINGS_MAX - 1;
        breaker.openings = Math.min(breaker.openings + 1, openingsMax);
        if (outage !== undefined) resting.add(outage, breaker.until);
      }
      breakers.set(key, breaker);
      failing.set(key, true);
      if (outage !== undefined) good.delete(contract);
    },
    succeeded,
    refused(contract, sender) {
      succeeded(contract, sender);
      failing.set(pairOf(contract, sender), true);
    },
    isFailing: (contract, sender) => failing.get(pairOf(contract, sender)) !== undefined,
  };
}

interface RestingImages {
  add(of: Outage, until: number): void;
  areMany(): boolean;
  clear(): void;
}

/** As many as it takes; newer ones replace older ones. */
function createRestingImages(monotonic: () => number): RestingImages {
  const images = new Map<string, { readonly creator: string; readonly until: number }>();
  return {
    add({ imageHash, creator }, until) {
      images.delete(imageHash);
      const own = [...images].filter(([, image]) => image.creator === creator);
      if (own.length >= IMAGES_OF_ONE_MAX) images.delete(own[0]![0]);
      else if (images.size >= IMAGES_MAX) images.delete(images.keys().next().value!);
      images.set(imageHash, { creator, until });
    },
    areMany() {
      if (images.size < IMAGES_MAX) return false;
      const now = monotonic();
      for (const [image, { until }] of images) if (until <= now) images.delete(image);
      return images.size >= IMAGES_MAX;
    },
    clear: () => images.clear(),
  };
}

const pairOf = (contract: string, sender: string): string => `${contract} ${sender}`;
