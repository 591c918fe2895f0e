/** How much of the processors of this machine nobody uses. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/**
 * Over the next `ms`, from 0 to 1. 0 where the system does not say, and where this process may not use
 * all processors.
 */
export async function idleShare(ms: number): Promise<number> {
  const before = processorTimes();
  await setTimeout(ms);
  const after = processorTimes();
  const all = after.all - before.all;
  const isWhole = availableParallelism() === cpus().length;
  return isWhole && all > 0 ? (after.idle - before.idle) / all : 0;
}

/** In ticks since the machine started (proc_stat(5)). Processors that wait for a disk are in use. */
function processorTimes(): { readonly all: number; readonly idle: number } {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n', 1);
    const [user = 0, nice = 0, system = 0, idle = 0, ...others] = line
      .split(/ +/)
      .slice(1)
      .map(Number);
    // The last two of ten are in the first two already.
    const rest = others.slice(0, 4).reduce((sum, ticks) => sum + ticks, 0);
    return { all: user + nice + system + idle + rest, idle };
  } catch {
    return { all: 0, idle: 0 };
  }
}
