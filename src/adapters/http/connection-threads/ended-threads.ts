/**
 * The end of threads with connections when the process ends at once. Node aborts the process where
 * it ends a thread whose native connections are open, so the threads close them before.
 */
const WAIT_MS = 1_000;

/** The memory in which threads count themselves. */
export const sharedCount = (): SharedArrayBuffer =>
  new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** Called in a thread that holds no connection any more. */
export function countEnd(memory: SharedArrayBuffer): void {
  const count = new Int32Array(memory);
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
}

/** Stops the calling thread until so many have ended, for a second at most. */
export function awaitEnds(memory: SharedArrayBuffer, threads: number): void {
  const count = new Int32Array(memory);
  const deadline = performance.now() + WAIT_MS;
  for (let ended = Atomics.load(count, 0); ended < threads; ended = Atomics.load(count, 0)) {
    const left = deadline - performance.now();
    if (left <= 0) return;
    Atomics.wait(count, 0, ended, left);
  }
}
