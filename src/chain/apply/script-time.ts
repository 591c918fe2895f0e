/**
 * The time that scripts get in work that can leave transactions for later: the block that this node
 * makes, what a round of the pool tries. The units of a block (block-scripts.ts) do not bound this
 * work, since those of refused transactions do not count there.
 *
 * This is no rule of the chain: other nodes accept a block whose scripts take longer.
 */
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';

const SCRIPTS_MS_MAX = 1000;

export interface ScriptTime {
  /** What scripts have taken so far, in milliseconds. */
  readonly spentMs: number;
  /**
   * Called before the scripts of a transaction. Only here the time can end, so that each
   * transaction fits where it comes early enough.
   */
  begin(): void;
  /** Runs a script. Throws ApiError where the time had ended before the transaction. */
  run(script: () => void): void;
}

export function createScriptTime({ monotonic }: Pick<Clock, 'monotonic'>): ScriptTime {
  let spentMs = 0;
  let isOver = false;
  return {
    get spentMs() {
      return spentMs;
    },
    begin() {
      isOver = spentMs >= SCRIPTS_MS_MAX;
    },
    run(script) {
      if (isOver) throw apiError('BlockFull', `scripts have taken ${SCRIPTS_MS_MAX} ms`);
      const from = monotonic();
      try {
        script();
      } finally {
        spentMs += monotonic() - from;
      }
    },
  };
}
