/**
 * Work in steps: a generator that pauses after each. The caller decides whether everything else may
 * run in between.
 */
import type { TimeSlice } from './time-slice.ts';

/** Short runs are sorted at once, then merged piece by piece. */
const RUN = 1024;

/** As `items.toSorted(compare)`, stable too. */
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

/** Runs work in steps to its end, and lets everything else run whenever a slice is over. */
export async function inSlices<T>(steps: Generator<undefined, T>, slice: TimeSlice): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (slice.isOver()) await slice.yield();
  }
}

/** Runs work in steps to its end at once, where nothing else is waiting. */
export function inOneGo<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
