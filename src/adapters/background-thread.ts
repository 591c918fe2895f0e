/**
 * Gives way to the other threads of this process: where processors are short, whoever answers
 * clients runs first, then whoever orders transactions and makes blocks, then work that nobody
 * waits for by itself. Elsewhere than on Linux, priorities belong to whole processes.
 */
import { getPriority, setPriority } from 'node:os';

/** Steps of the nice value. */
const NICER_BY = {
  /** Half of what a thread of connections gets of a busy processor. */
  ordering: 3,
  /** A third of that. */
  background: 8,
} as const;
const NICEST = 19;

/** For the thread that calls it; the threads that it starts later inherit its priority. */
export function giveWay(as: keyof typeof NICER_BY): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(NICEST, getPriority() + NICER_BY[as]));
  } catch {
    // A sandbox may forbid the call: then the thread has its equal share.
  }
}
