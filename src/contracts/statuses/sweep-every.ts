/** Looks through the records again and again, each time a while after the end of the last. */
import { unlessOurs } from '../../base/assert.ts';
import type { Clock } from '../../base/ports/clock.ts';

/** `isOver`: true once it is stopped. A record that cannot be read ends one sweep alone. */
export function sweepEvery(
  ms: number,
  clock: Clock,
  sweep: (isOver: () => boolean) => Promise<void>,
): () => void {
  let stopped = false;
  let cancel = clock.after(ms, run);

  function run(): void {
    void sweep(() => stopped)
      .catch(unlessOurs(() => {}))
      .finally(() => {
        if (!stopped) cancel = clock.after(ms, run);
      });
  }

  return () => {
    stopped = true;
    cancel();
  };
}
