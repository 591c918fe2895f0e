/**
 * Filters of keys by patterns, and the work that each request and each client may cause. Threads do
 * the work; this counts it.
 */
import { apiError } from '../base/errors.ts';
import { contractLimits } from '../base/limits/contract-limits.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { KeyFilters, Patterns } from '../base/ports/patterns.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TokenBucket } from '../concurrency/token-bucket.ts';

const REQUEST_MAX = contractLimits.patternWork.value;
const PER_SECOND = contractLimits.clientWork.value;
/** Requests that read at a time; each may hold an answer of the greatest length. */
const AT_ONCE = 4;
/** Clients whose budgets are kept; a client beyond them begins with a full budget. */
const CLIENTS_KEPT = 5_000;
/** An empty key, or a pattern that is only compiled, takes time as well. */
const LEAST = 1000;
/** To read a key from the store, and to hand it to the thread. */
const PER_KEY = 500;

export function createKeyFilters(patterns: Patterns, clock: Pick<Clock, 'monotonic'>): KeyFilters {
  /** The work that each client may still cause; a request may exceed what is left. */
  const budgets = new BoundedCache<string, TokenBucket>(CLIENTS_KEPT);
  const answers = new Semaphore(AT_ONCE, {
    inAll: contractLimits.patternsWaiting.value,
    ofOwner: contractLimits.patternsWaitingOfOne.value,
  });

  function budgetOf(client: string): TokenBucket {
    const known = budgets.get(client);
    if (known !== undefined) return known;
    const full = new TokenBucket(REQUEST_MAX, PER_SECOND, clock);
    budgets.set(client, full);
    return full;
  }
  const spend = (client: string, work: number): void => void budgetOf(client).take(work);
  const requireLeft = (client: string): void => {
    if (budgetOf(client).take(0) > 0) throw apiError('Overloaded');
  };

  return {
    inTurn: (client, work) => answers.run(work, client),

    async open(pattern, client) {
      requireLeft(client);
      const { size } = await patterns.match(pattern, [], client);
      spend(client, LEAST * size);
      let left = REQUEST_MAX;
      return async (keys) => {
        requireLeft(client);
        const work = keys.reduce((sum, key) => sum + Math.max(1, key.length) * size, 0);
        left -= work;
        if (left < 0) throw apiError('AnswerTooBig', 'so many keys against such a pattern');
        spend(client, work + PER_KEY * keys.length);
        return (await patterns.match(pattern, keys, client)).verdicts;
      };
    },
  };
}
