/** A bucket of tokens that fills at a steady rate: what is taken faster is refused, or has to wait. */
import type { Clock } from '../base/ports/clock.ts';

export class TokenBucket {
  private readonly capacity: number;
  private readonly perSecond: number;
  private readonly clock: Pick<Clock, 'monotonic'>;
  private tokens: number;
  private filledAt: number;

  /** Full at first. */
  constructor(capacity: number, perSecond: number, clock: Pick<Clock, 'monotonic'>) {
    this.capacity = capacity;
    this.perSecond = perSecond;
    this.clock = clock;
    this.tokens = capacity;
    this.filledAt = clock.monotonic();
  }

  /** False where there is no whole token; then none is taken. */
  tryTake(): boolean {
    this.fill();
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }

  /** Takes tokens, those included that are still to come; the milliseconds until they are there. */
  take(tokens: number): number {
    this.fill();
    this.tokens -= tokens;
    // To the microsecond, since sums of fractions are not exact.
    return Math.max(0, Math.ceil(Math.round((-this.tokens / this.perSecond) * 1e6) / 1e3));
  }

  private fill(): void {
    const now = this.clock.monotonic();
    const filled = this.tokens + ((now - this.filledAt) / 1000) * this.perSecond;
    this.tokens = Math.min(this.capacity, filled);
    this.filledAt = now;
  }
}
