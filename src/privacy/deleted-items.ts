/**
 * Looks now and then for items that were deleted from the storage, so that they no longer count
 * (quota.ts). An operator deletes them with the means of the storage.
 */
import { unlessOurs } from '../base/assert.ts';
import type { Clock } from '../base/ports.ts';

/** From the end of a round through all items to the next. */
export const SEARCH_EVERY_MS = 600_000;
/** Between two parts of a round. */
export const NEXT_PART_MS = 1_000;

export interface Search {
  start(): void;
  /** Resolves when no search is under way. */
  stop(): Promise<void>;
}

/**
 * `search` looks for a part of the items, and says whether the round has more; it rejects where
 * the storage fails, which logs that; it is tried again.
 */
export function createSearch(
  search: (isStopped: () => boolean) => Promise<boolean>,
  clock: Clock,
): Search {
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  function after(ms: number): void {
    if (stopped) return;
    cancel = clock.after(ms, () => {
      running = search(() => stopped)
        .catch(unlessOurs(() => false))
        .then((isMore) => after(isMore === true ? NEXT_PART_MS : SEARCH_EVERY_MS));
    });
  }

  return {
    start: () => after(SEARCH_EVERY_MS),
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
