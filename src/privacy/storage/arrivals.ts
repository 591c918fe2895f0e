/**
 * The order in which confidential data came to this node. Each item has one row, written together
 * with the one that says that it is stored; the number of the row never changes.
 */
import type { Store, StoreWrite } from '../../base/ports/store.ts';
import { u64Key } from '../../ledger/key-codecs.ts';
import { privateArrivals } from '../../ledger/tables.ts';
import { type ItemId, itemBytes, itemOfBytes } from '../protocol/item-id.ts';

export interface ArrivedItem extends ItemId {
  readonly number: number;
}

const table = privateArrivals.id;
const END = u64Key.encode(Number.MAX_SAFE_INTEGER);

export class Arrivals {
  private readonly rows: Pick<Store, 'range'>;
  private readonly listeners = new Set<() => void>();
  private newest: number | undefined;

  constructor(rows: Pick<Store, 'range'>) {
    this.rows = rows;
  }

  /** The number of the last one; 0: there was none. */
  last(): number {
    if (this.newest === undefined) {
      this.newest = 0;
      for (const [key] of this.rows.range(table, u64Key.encode(0), END, 1, true)) {
        this.newest = u64Key.decode(key);
      }
    }
    return this.newest;
  }

  /** Those with numbers above this one, in their order. */
  after(number: number, limit: number): ArrivedItem[] {
    const rows = this.rows.range(table, u64Key.encode(number + 1), END, limit);
    return Array.from(rows, ([key, value]) => {
      return { number: u64Key.decode(key), ...itemOfBytes(value.slice()) };
    });
  }

  /** The row of the next one. One change at a time: `came` follows when the row is on disk. */
  row(item: ItemId): StoreWrite {
    return { table, key: u64Key.encode(this.last() + 1), value: itemBytes(item) };
  }

  came(): void {
    this.newest = this.last() + 1;
    for (const action of this.listeners) action();
  }

  listen(action: () => void): () => void {
    this.listeners.add(action);
    return () => this.listeners.delete(action);
  }
}
