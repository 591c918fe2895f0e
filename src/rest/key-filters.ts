/**
 * Filters of keys by patterns, and the work that each request and each client may cause. Threads do
 * the work; this counts it.
 */
import { contractLimits } from '../base/contract-limits.ts';
import { apiError } from '../base/errors.ts';
import type { KeyFilters, Patterns } from '../base/patterns.ts';
import type { Clock } from '../base/ports.ts';
import { Semaphore } from '../concurrency/semaphore.ts';

const REQUEST_MAX = contractLimits.patternWork.value;
const CLIENT_MAX = contractLimits.clientWork.value;
/** Each may hold an answer of the greatest length. */
const AT_ONCE = 4;
const INTERVAL_MS = 60_000;
/** Then the counts begin again. */
const CLIENTS_MAX = 10_000;
/** An empty key, or a pattern that is only compiled, takes time as well. */
const LEAST = 1000;

export function createKeyFilters(patterns: Patterns, clock: Pick<Clock, 'monotonic'>): KeyFilters {
  const spent = new Map<string, number>();
  let until = 0;
  const answers = new Semaphore(AT_ONCE, {
    inAll: contractLimits.patternsWaiting.value,
    ofOwner: contractLimits.patternsWaitingOfOne.value,
  });

  function spend(client: string, work: number): void {
    if (clock.monotonic() >= until || spent.size >= CLIENTS_MAX) {
      spent.clear();
      until = clock.monotonic() + INTERVAL_MS;
    }
    spent.set(client, (spent.get(client) ?? 0) + work);
  }
  const requireLeft = (client: string): void => {
    const isOver = clock.monotonic() < until && (spent.get(client) ?? 0) > CLIENT_MAX;
    if (isOver) throw apiError('Overloaded');
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
        spend(client, work);
        return (await patterns.match(pattern, keys, client)).verdicts;
      };
    },
  };
}
