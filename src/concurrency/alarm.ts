/** Ends a wait early; a ring between two waits ends the next one. */
import type { Clock } from '../base/ports/clock.ts';

export class Alarm {
  private readonly clock: Pick<Clock, 'after'>;
  private hasRung = false;
  private wake = (): void => {};

  constructor(clock: Pick<Clock, 'after'>) {
    this.clock = clock;
  }

  readonly ring = (): void => {
    this.hasRung = true;
    this.wake();
  };

  /** Resolves at a ring, or after this time. */
  async wait(ms: number): Promise<void> {
    if (!this.hasRung) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.after(ms, resolve);
        this.wake = () => {
          cancel();
          resolve();
        };
      });
    }
    this.hasRung = false;
  }
}
