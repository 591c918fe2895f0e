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

  /** True where one more gets no answer. */
  isFull(owner: Uint8Array): boolean {
    return (this.counted(owner)?.count ?? 0) >= REFUSALS_MAX;
  }

  /** Counts one more request; false where it gets no answer. */
  add(owner: Uint8Array): boolean {
    let counted = this.counted(owner);
    if (counted === undefined) {
      counted = { since: this.clock.monotonic(), count: 0 };
      this.counts.set(latin1(owner), counted);
    }
    counted.count += 1;
    return counted.count <= REFUSALS_MAX;
  }

  /** Those of the last minute. */
  private counted(owner: Uint8Array) {
    const counted = this.counts.get(latin1(owner));
    const isOver = counted !== undefined && this.clock.monotonic() - counted.since > MINUTE_MS;
    return isOver ? undefined : counted;
  }
}
