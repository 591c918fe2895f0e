/**
 * The ranges of keys of one table that an execution has read, and when. They are kept as intervals
 * in order, of which no two overlap, so that a key is found by halving.
 */
import { compare } from '../../base/bytes.ts';

interface Interval {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** The number of changes before its first read. */
  readonly position: number;
}

export class ReadRanges {
  private readonly intervals: Interval[] = [];

  /** Adds what no earlier range covers; positions never decrease. Returns how many intervals. */
  add(from: Uint8Array, to: Uint8Array, position: number): number {
    const { intervals } = this;
    const first = this.endingAfter(from);
    const merged: Interval[] = [];
    let at = from;
    let next = first;
    for (let known = intervals[next]; known !== undefined; known = intervals[++next]) {
      if (compare(known.from, to) >= 0) break;
      if (compare(at, known.from) < 0) merged.push({ from: at, to: known.from, position });
      merged.push(known);
      at = known.to;
    }
    if (compare(at, to) < 0) merged.push({ from: at, to, position });
    const added = merged.length - (next - first);
    if (added > 0) intervals.splice(first, next - first, ...merged);
    return added;
  }

  /** True where the key was read before the change with this number. */
  hasReadBefore(key: Uint8Array, change: number): boolean {
    const interval = this.intervals[this.endingAfter(key)];
    return (
      interval !== undefined && compare(interval.from, key) <= 0 && interval.position <= change
    );
  }

  /** Index of the first interval that ends after the key. */
  private endingAfter(key: Uint8Array): number {
    let [low, high] = [0, this.intervals.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.intervals[middle]!.to, key) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
