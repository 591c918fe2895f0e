/** Counts the refused requests of each owner. Above the limit for a minute they get no answer. */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';

const MINUTE_MS = 60_000;
/** For one owner in a minute. */
export const REFUSALS_MAX = 100;
/** Owners whose refused requests are counted; the oldest are dropped. */
const COUNTED_MAX = 1000;

export class RefusedRequests {
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly counts = new BoundedCache<string, { readonly since: number; count: number }>(
    COUNTED_MAX,
  );

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock;
  }

  /** Counts one more request; false where it gets no answer. */
  add(owner: Uint8Array): boolean {
    const now = this.clock.monotonic();
    const key = latin1(owner);
    let counted = this.counts.get(key);
    if (counted === undefined || now - counted.since > MINUTE_MS) {
      counted = { since: now, count: 0 };
      this.counts.set(key, counted);
    }
    counted.count += 1;
    return counted.count <= REFUSALS_MAX;
  }
}
