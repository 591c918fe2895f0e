/**
 * Gives way to the other threads of this process: where processors are short, whoever answers
 * clients runs first, then whoever orders transactions and makes blocks, then work that nobody
 * waits for by itself. Elsewhere than on Linux, priorities belong to whole processes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** Steps of the nice value; each is a factor of 1.25 of the time on a busy processor. */
interface Steps {
  readonly ordering: number;
  readonly background: number;
}

/** Half as much as the others, and a sixth. */
const STEPS: Steps = { ordering: 3, background: 8 };
/**
 * Where threads hold the connections. A thread that gives way runs for a whole tick of the kernel
 * whenever its turn comes, and those ticks are what a refusal waits for: the nicer, the rarer.
 */
const STEPS_BESIDE_CONNECTIONS: Steps = { ordering: 8, background: 14 };
const NICEST = 19;
const TASKS = '/proc/self/task';
/** Holds the nice value from which the steps count; the threads that start later know it. */
const FIRST = 'nice value beside threads of connections';

/** For the thread that calls it; the threads that it starts later inherit its priority. */
export function giveWay(as: keyof Steps): void {
  if (process.platform !== 'linux') return;
  try {
    const first = getEnvironmentData(FIRST);
    const nice =
      typeof first === 'number' ? first + STEPS_BESIDE_CONNECTIONS[as] : getPriority() + STEPS[as];
    setPriority(Math.min(NICEST, nice));
  } catch {
    // A sandbox may forbid the call: then the thread has its equal share.
  }
}

/**
 * For the main thread, before it starts any other. The threads of V8, which collect garbage, give
 * way as the ordering thread will, since it makes most of the garbage. Those of libuv do not: they
 * write what clients wait for.
 */
export function putConnectionsFirst(): void {
  if (process.platform !== 'linux') return;
  try {
    const first = getPriority();
    setEnvironmentData(FIRST, first);
    const nice = Math.min(NICEST, first + STEPS_BESIDE_CONNECTIONS.ordering);
    for (const id of readdirSync(TASKS).map(Number)) {
      if (id !== process.pid) lower(id, nice);
    }
  } catch {
    // As above.
  }
}

function lower(thread: number, nice: number): void {
  try {
    const name = readFileSync(`${TASKS}/${thread}/comm`, 'latin1');
    if (!name.startsWith('libuv')) setPriority(thread, nice);
  } catch {
    // It has ended, or as above.
  }
}
