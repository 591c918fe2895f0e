/** Work that is repeated for as long as something runs. */
import type { Clock } from '../base/ports/clock.ts';

/**
 * Runs a job again and again, each time so long after its end. Returns the function that stops it, which
 * the job may call too. `isStopped` is for a job that goes on for a while; it must not reject.
 */
export function every(
  clock: Pick<Clock, 'after'>,
  ms: number,
  job: (isStopped: () => boolean) => void | Promise<void>,
): () => void {
  let stopped = false;
  let cancel = clock.after(ms, run);

  function run(): void {
    const end = job(() => stopped);
    if (end === undefined) again();
    else void end.finally(again);
  }

  function again(): void {
    if (!stopped) cancel = clock.after(ms, run);
  }

  return () => {
    stopped = true;
    cancel();
  };
}
