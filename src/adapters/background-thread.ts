/**
 * Gives way to the other threads of this process: where processors are short, whoever answers
 * clients runs first, then whoever orders transactions and makes blocks, then work that nobody
 * waits for by itself. Elsewhere than on Linux, priorities belong to whole processes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/**
 * Steps of the nice value. The kernel gives a thread a whole tick, 4 ms, whenever its turn comes,
 * and the turns of a nicer thread are rarer: a connection then waits for fewer of them.
 */
const NICER_BY = {
  /** A third of what a thread of connections gets of a busy processor. */
  ordering: 5,
  /** An eighth of that. */
  background: 14,
} as const;
const NICEST = 19;
const TASKS = '/proc/self/task';

/** For the thread that calls it; the threads that it starts later inherit its priority. */
export function giveWay(as: keyof typeof NICER_BY): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(NICEST, getPriority() + NICER_BY[as]));
  } catch {
    // A sandbox may forbid the call: then the thread has its equal share.
  }
}

/**
 * For a process that has started no thread yet: those of V8, which collect garbage, give way as the
 * ordering thread does, since most of the garbage is its own. The threads of libuv do not: they write
 * what a client waits for.
 */
export function collectorsGiveWay(): void {
  if (process.platform !== 'linux') return;
  const priority = Math.min(NICEST, getPriority() + NICER_BY.ordering);
  for (const id of readdirSync(TASKS).map(Number)) {
    if (id === process.pid) continue;
    try {
      const name = readFileSync(`${TASKS}/${id}/comm`, 'latin1');
      if (!name.startsWith('libuv')) setPriority(id, priority);
    } catch {
      // It has ended, or a sandbox forbids the call.
    }
  }
}
