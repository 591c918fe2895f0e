/**
 * Ends the wait for turns that take too long. One timer serves all turns in a row, since thousands of
 * short ones begin and end while it runs.
 */
import type { Clock } from '../base/ports/clock.ts';

export class LateTurns {
  private readonly limitMs: number;
  private readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  private cancel: (() => void) | undefined;
  private began = 0;
  private giveUp: (() => void) | undefined;

  constructor(limitMs: number, clock: Pick<Clock, 'after' | 'monotonic'>) {
    this.limitMs = limitMs;
    this.clock = clock;
  }

  /** Resolves when the turn is over, or has taken too long; one at a time. Rejects as it does. */
  async wait(turn: Promise<void>): Promise<void> {
    this.began = this.clock.monotonic();
    if (this.cancel === undefined) this.watch(this.limitMs);
    try {
      await new Promise<void>((resolve, reject) => {
        this.giveUp = resolve;
        turn.then(resolve, reject);
      });
    } finally {
      this.giveUp = undefined;
    }
  }

  /** No turn is awaited any more. */
  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }

  private watch(ms: number): void {
    this.cancel = this.clock.after(ms, () => {
      this.cancel = undefined;
      if (this.giveUp === undefined) return;
      const left = this.began + this.limitMs - this.clock.monotonic();
      if (left <= 0) this.giveUp();
      else this.watch(left);
    });
  }
}
