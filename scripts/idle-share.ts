/** How much of the processors of this machine nobody uses. */
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** Over the next `ms`; from 0 to 1. */
export async function idleShare(ms: number): Promise<number> {
  const before = processorTimes();
  await setTimeout(ms);
  const after = processorTimes();
  const all = after.all - before.all;
  return all > 0 ? (after.idle - before.idle) / all : 0;
}

function processorTimes(): { readonly all: number; readonly idle: number } {
  const times = cpus().map((one) => one.times);
  const idle = times.reduce((sum, { idle }) => sum + idle, 0);
  const all = times.reduce((sum, time) => sum + Object.values(time).reduce((a, b) => a + b, 0), 0);
  return { all, idle };
}
