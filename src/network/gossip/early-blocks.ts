/**
 * Announced blocks whose time has not come. Honest clocks differ a little, so a block that is just
 * ahead of the clock waits here and is judged again at its time.
 */
import type { Clock } from '../../base/ports.ts';

export interface EarlyBlocks {
  /**
   * True for a block that is so much ahead of the clock that it cannot be judged now. `again` is
   * called at its time, unless that is far away or too many blocks wait.
   */
  holds(aheadMs: number, again: () => void): boolean;
  stop(): void;
}

const AHEAD_MS_MAX = 5_000;
/** One millisecond less would do (blocks.md#checks-of-a-received-block). */
const AHEAD_MS = 100;
const WAITING_MAX = 32;

export function createEarlyBlocks(clock: Pick<Clock, 'after'>): EarlyBlocks {
  const waiting = new Set<() => void>();
  return {
    holds(aheadMs, again) {
      if (aheadMs < AHEAD_MS) return false;
      if (aheadMs > AHEAD_MS_MAX || waiting.size >= WAITING_MAX) return true;
      const cancel = clock.after(aheadMs - AHEAD_MS + 1, () => {
        waiting.delete(cancel);
        again();
      });
      waiting.add(cancel);
      return true;
    },
    stop() {
      for (const cancel of waiting) cancel();
    },
  };
}
