/**
 * Processor time of a node by kind of thread, from /proc; on a system without it everything is 0.
 *
 * The kernel knows few names, so the order of creation decides: the main thread, helpers of V8
 * (collection of garbage, compilation), threads of libuv, then our own, which verify and write.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface ThreadTimes {
  readonly main: number;
  /** Verifying signatures, writing the store, holding connections. */
  readonly own: number;
  readonly engine: number;
  readonly disk: number;
}

/** The columns of the documents. */
export const THREAD_KINDS = {
  main: 'main threads',
  own: 'verifying and writing threads',
  engine: 'helpers of V8',
  disk: 'disk (libuv)',
} as const;

const NANOSECONDS = 1e9;
const OF_LIBUV = 'libuv-worker';

/** Seconds on a processor, user and system together. */
export function threadTimes(pid: number): ThreadTimes {
  const times = { main: 0, own: 0, engine: 0, disk: 0 };
  let areOursNext = false;
  for (const { id, name, seconds } of threadsOf(pid)) {
    if (name === OF_LIBUV) areOursNext = true;
    if (id === pid) times.main += seconds;
    else if (name === OF_LIBUV) times.disk += seconds;
    else if (areOursNext) times.own += seconds;
    else times.engine += seconds;
  }
  return times;
}

export function sumOfTimes(all: readonly ThreadTimes[]): ThreadTimes {
  const sum = (of: keyof ThreadTimes): number => all.reduce((total, one) => total + one[of], 0);
  return { main: sum('main'), own: sum('own'), engine: sum('engine'), disk: sum('disk') };
}

/** The time between two readings, for each of `operations`. */
export function timesEach(
  before: ThreadTimes,
  after: ThreadTimes,
  operations: number,
): ThreadTimes {
  const each = (of: keyof ThreadTimes): number => (after[of] - before[of]) / operations;
  return { main: each('main'), own: each('own'), engine: each('engine'), disk: each('disk') };
}

/** In the order of creation. */
function threadsOf(pid: number) {
  const folder = `/proc/${pid}/task`;
  try {
    const ids = readdirSync(folder)
      .map(Number)
      .sort((a, b) => a - b);
    return ids.map((id) => {
      const [onProcessor] = readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ');
      const name = readFileSync(`${folder}/${id}/comm`, 'utf8').trim();
      return { id, name, seconds: Number(onProcessor) / NANOSECONDS };
    });
  } catch {
    return [];
  }
}
