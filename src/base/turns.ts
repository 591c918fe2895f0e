/**
 * Long work in short pieces. Code that works through thousands of items asks `due` between them, so
 * that everything else in the event loop can run.
 */
import type { Clock } from './ports.ts';

export interface Turns {
  /** True when the present piece has been long enough. */
  due(): boolean;
  /** Lets everything else run and begins the next piece. */
  take(): Promise<void>;
}

/** Several pieces of different work may fall into one turn, which must stay far below 20 ms. */
const PIECE_MS = 2;
/** A request waits three times: for its arrival, for the verdict on its signature, for the disk. */
const TURNS_BETWEEN = 3;
/**
 * Turns of a busy node are long. One of them is then enough; with three, a block would not be ready
 * in time.
 */
const BETWEEN_MS = 4;

export function createTurns({ monotonic, turn }: Pick<Clock, 'monotonic' | 'turn'>): Turns {
  let ends = monotonic() + PIECE_MS;
  return {
    due: () => monotonic() >= ends,
    async take() {
      const enough = monotonic() + BETWEEN_MS;
      for (let i = 0; i < TURNS_BETWEEN && monotonic() < enough; i++) await turn();
      ends = monotonic() + PIECE_MS;
    },
  };
}

/** Short runs are sorted at once, then merged piece by piece. */
const RUN = 1024;

/** As `items.toSorted(compare)`, stable too. */
export const sortInTurns = <T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  turns: Turns,
): Promise<T[]> => takingTurns(sortInSteps(items, compare), turns);

/** The same as work in steps. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += RUN) {
    runs.push(items.slice(start, start + RUN).sort(compare));
    yield undefined;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* merge(runs[i]!, runs[i + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    merged.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
    if (merged.length % RUN === 0) yield undefined;
  }
  while (l < left.length) merged.push(left[l++]!);
  while (r < right.length) merged.push(right[r++]!);
  return merged;
}

/** Items read in one step. */
const READ = 256;

/** All items, read in steps; undefined ones are left out. */
export function* listInSteps<T>(items: Iterable<T | undefined>): Generator<undefined, T[]> {
  const list: T[] = [];
  let read = 0;
  for (const item of items) {
    if (item !== undefined) list.push(item);
    if (++read % READ === 0) yield undefined;
  }
  return list;
}

/** Runs work in steps to its end, and lets everything else run whenever a turn is due. */
export async function takingTurns<T>(steps: Generator<undefined, T>, turns: Turns): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (turns.due()) await turns.take();
  }
}

/** Runs work in steps to its end at once, where nothing else is waiting. */
export function inOneGo<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Work in one piece, which never yields. */
export const noTurns: Turns = { due: () => false, take: async () => {} };
