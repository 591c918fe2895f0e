/**
 * Gives way to the other threads of this process: where processors are short, whoever answers
 * clients and makes blocks runs first, and work that nobody waits for by itself runs in what is
 * left. Elsewhere than on Linux, priorities belong to whole processes.
 */
import { getPriority, setPriority } from 'node:os';

/** Three times less of a busy processor than its neighbours. */
const NICER_BY = 5;
const NICEST = 19;

/** For the thread that calls it. */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(Math.min(NICEST, getPriority() + NICER_BY));
}
