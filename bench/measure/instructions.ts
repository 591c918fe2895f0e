/**
 * Instructions that a process executes, counted by the processor. Unlike time they do not depend on
 * its frequency, its caches and its other programs. Not every virtual machine has such counters.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Instructions {
  readonly main: number;
  /** Of all threads that were there at the beginning. */
  readonly all: number;
}

const STAT = ['stat', '-x', ',', '-e', 'instructions', '--log-fd', '1'];

/** False where `perf` is missing, or the machine has no counters. */
export function canCountInstructions(): boolean {
  try {
    return /^\d+,/m.test(execFileSync('perf', [...STAT, '--', 'true'], { encoding: 'utf8' }));
  } catch {
    return false;
  }
}

/** Counts until the returned function is called. */
export function countInstructions(pid: number): () => Promise<Instructions | undefined> {
  const child = spawn('perf', [...STAT, '--per-thread', '-p', String(pid)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const closed = once(child, 'close');
  return async () => {
    child.kill('SIGINT');
    await closed;
    return instructionsIn(printed, pid);
  };
}

/** From lines such as `node-4711,123456,,instructions,…`; undefined where nothing is counted. */
export function instructionsIn(printed: string, pid: number): Instructions | undefined {
  let main: number | undefined;
  let all = 0;
  for (const [, thread, count] of printed.matchAll(/-(\d+),(\d+),[^,]*,instructions/g)) {
    if (Number(thread) === pid) main = Number(count);
    all += Number(count);
  }
  return main === undefined ? undefined : { main, all };
}
