/**
 * Pool entries in the order in which blocks take them: ascending timestamp, ties by id bytes
 * (mempool.md). New entries mostly have the newest timestamps, so they wait in a tail that is
 * sorted only when the order is read. Removed entries are skipped, and deleted in that step.
 */
export interface Ordered {
  readonly timestamp: number;
  /** The id as Latin-1 text, which sorts like its bytes. */
  readonly key: string;
  removed: boolean;
}

const byTimeThenId = (a: Ordered, b: Ordered): number =>
  a.timestamp - b.timestamp || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

export class TimeOrder<E extends Ordered> {
  private sorted: E[] = [];
  private tail: E[] = [];
  private removedCount = 0;

  add(entry: E): void {
    this.tail.push(entry);
  }

  remove(entry: E): void {
    entry.removed = true;
    this.removedCount++;
  }

  /** All entries in order. The array belongs to the pool; read it before the next change. */
  inOrder(): readonly E[] {
    if (this.removedCount > 0) {
      this.sorted = this.sorted.filter((entry) => !entry.removed);
      this.tail = this.tail.filter((entry) => !entry.removed);
      this.removedCount = 0;
    }
    if (this.tail.length > 0) {
      this.sorted = merge(this.sorted, this.tail.sort(byTimeThenId));
      this.tail = [];
    }
    return this.sorted;
  }
}

function merge<E extends Ordered>(left: E[], right: readonly E[]): E[] {
  const last = left.at(-1);
  const first = right[0];
  if (last === undefined || first === undefined || byTimeThenId(last, first) < 0) {
    for (const entry of right) left.push(entry);
    return left;
  }
  const out: E[] = [];
  let i = 0;
  for (const entry of right) {
    while (i < left.length && byTimeThenId(left[i]!, entry) < 0) out.push(left[i++]!);
    out.push(entry);
  }
  while (i < left.length) out.push(left[i++]!);
  return out;
}
