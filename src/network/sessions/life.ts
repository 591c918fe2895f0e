/** Whether a session is open, and when its last complete message arrived. */
import type { Clock } from '../../base/ports/clock.ts';

export class Life {
  private readonly clock: Clock;
  isOpen = true;
  /** On the monotonic clock. */
  heardAt: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.heardAt = clock.monotonic();
  }

  hear(): void {
    this.heardAt = this.clock.monotonic();
  }

  requireOpen(): void {
    if (!this.isOpen) throw new Error('the session is closed');
  }
}
