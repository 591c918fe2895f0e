/**
 * A process that tries inputs of one problem, and tells how long each one holds the event loop, in
 * milliseconds: the least of several, since other work of the machine only ever adds to it.
 */
import type { Problem, Work } from './problem.ts';
import { problemOf } from './problems.ts';

export interface Trial {
  readonly text: string;
  readonly runs: number;
}

/** The processor time of a thread is known in steps of some milliseconds. */
const COARSE_MS = 40;

interface Moment {
  readonly ms: number;
  readonly cpu: NodeJS.CpuUsage;
}

const now = (): Moment => ({ ms: performance.now(), cpu: process.threadCpuUsage() });

/** Time of this thread, so that others on the machine do not count; a short time by the clock. */
function since({ ms, cpu }: Moment): number {
  const passedMs = performance.now() - ms;
  if (passedMs < COARSE_MS) return passedMs;
  const { user, system } = process.threadCpuUsage(cpu);
  return Math.min(passedMs, (user + system) / 1000);
}

/** The longest piece of the work in which nothing else could run. */
async function longestPieceMs(work: Work): Promise<number> {
  let longest = 0;
  let from = now();
  const ended = (): void => {
    longest = Math.max(longest, since(from));
  };
  const outcome = refusing(work).finally(ended);
  ended();
  let isOver = false;
  const over = outcome.then(() => {
    isOver = true;
  });
  while (!isOver) {
    from = now();
    await new Promise((resolve) => setImmediate(resolve));
    ended();
  }
  await over;
  const factor = await outcome;
  return typeof factor === 'number' ? longest * factor : longest;
}

/** A refusal costs what the way to it has cost. */
async function refusing(work: Work): Promise<unknown> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}

async function leastMs({ prepare }: Problem, { text, runs }: Trial): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const work = await prepare(text);
    if (work === undefined) return 0;
    least = Math.min(least, await longestPieceMs(work));
  }
  return least;
}

const problem = await problemOf(process.argv[2]!);
process.on('message', async (trial: Trial) => {
  process.send?.(await leastMs(problem, trial));
});
