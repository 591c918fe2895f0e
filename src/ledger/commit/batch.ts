/** The writes of one commit, put in the order of the store. */
import type { StoreWrite } from '../../base/ports/store.ts';
import { inSlices, sortInSteps } from '../../concurrency/steps.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { Row } from '../write-set.ts';

/** A write, and the decoded row from which it comes, if there is one. */
export interface PendingWrite extends StoreWrite {
  readonly row?: Row;
}

/**
 * All writes of one commit by table and key. Where several writes have one key, the last counts.
 */
export class Batch {
  private readonly tables: (PendingWrite[] | undefined)[] = [];

  add(write: PendingWrite): void {
    const list = this.tables[write.table];
    if (list === undefined) this.tables[write.table] = [write];
    else list.push(write);
  }

  put(table: number, key: Uint8Array, value: Uint8Array | undefined): void {
    this.add({ table, key, value });
  }

  async writes(slice: TimeSlice): Promise<PendingWrite[]> {
    const writes: PendingWrite[] = [];
    for (const added of this.tables) {
      if (added === undefined) continue;
      // The rows of one block arrive sorted and without repetition.
      const list = (await isAscending(added, slice)) ? added : await inOrder(added, slice);
      for (let i = 0; i < list.length; i++) {
        const write = list[i]!;
        const next = list[i + 1];
        if (next === undefined || byKey(write, next) !== 0) writes.push(write);
        if (slice.isOver()) await slice.yield();
      }
    }
    return writes;
  }
}

async function isAscending(list: readonly PendingWrite[], slice: TimeSlice): Promise<boolean> {
  for (let i = 1; i < list.length; i++) {
    if (byKey(list[i - 1]!, list[i]!) >= 0) return false;
    if (slice.isOver()) await slice.yield();
  }
  return true;
}

function byKey({ key: a }: PendingWrite, { key: b }: PendingWrite): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** More would take longer than a turn. */
const AT_ONCE_MAX = 2 ** 15;

/**
 * Sorts numbers, which takes a fifth of the time of comparing keys: the first four bytes of a key
 * above its place in the list. Only keys that begin with the same bytes are then compared. The
 * order is stable, so that the later of two writes to a key stays the later one.
 */
async function inOrder(list: readonly PendingWrite[], slice: TimeSlice): Promise<PendingWrite[]> {
  if (list.length > AT_ONCE_MAX) return inSlices(sortInSteps(list, byKey), slice);
  const numbers = new Float64Array(list.length);
  for (let i = 0; i < list.length; i++) numbers[i] = beginning(list[i]!.key) * AT_ONCE_MAX + i;
  numbers.sort();
  const sorted: PendingWrite[] = [];
  let start = 0;
  let last = -1;
  for (const number of numbers) {
    const first = Math.floor(number / AT_ONCE_MAX);
    if (first !== last) {
      sortFrom(sorted, start);
      start = sorted.length;
      last = first;
    }
    sorted.push(list[number - first * AT_ONCE_MAX]!);
  }
  sortFrom(sorted, start);
  if (slice.isOver()) await slice.yield();
  return sorted;
}

/** Keys of the same beginning stand from `start` on. */
function sortFrom(sorted: PendingWrite[], start: number): void {
  if (sorted.length - start < 2) return;
  const same = sorted.splice(start).sort(byKey);
  for (const write of same) sorted.push(write);
}

/** The first four bytes as a number; a shorter key counts as if zeros followed. */
const beginning = (key: Uint8Array): number =>
  ((key[0] ?? 0) * 0x1_0000 + (key[1] ?? 0) * 0x100 + (key[2] ?? 0)) * 0x100 + (key[3] ?? 0);
