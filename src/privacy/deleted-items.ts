/**
 * Looks now and then for items that were deleted from the storage, so that they no longer count
 * (quota.ts). An operator deletes them with the means of the storage.
 */
import { unlessOurs } from '../base/assert.ts';
import type { Clock } from '../base/ports.ts';

/** Each time for a part of the items. */
export const SEARCH_EVERY_MS = 600_000;

export interface Search {
  start(): void;
  /** Resolves when no search is under way. */
  stop(): Promise<void>;
}

/** `search` rejects where the storage fails, which logs that; it is tried again. */
export function createSearch(
  search: (isStopped: () => boolean) => Promise<void>,
  clock: Clock,
): Search {
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  function start(): void {
    if (stopped) return;
    cancel = clock.after(SEARCH_EVERY_MS, () => {
      running = search(() => stopped)
        .catch(unlessOurs(() => {}))
        .then(start);
    });
  }

  return {
    start,
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
