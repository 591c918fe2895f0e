/**
 * The state as rules see it: typed tables at one point of the chain. Rules read and write only
 * through this interface. They have no access to clock, disk or network.
 */
import type { ChainScheme } from '../codec/codec.ts';
import type { Table } from './table.ts';

/** A read-only view of the state: the committed head, a snapshot of it, or an overlay. */
export interface LedgerView {
  readonly scheme: ChainScheme;
  /** Values are shared; callers must not change them. */
  get<K, V>(table: Table<K, V>, key: K): V | undefined;
  /** Rows with `from` ≤ key < `to` in byte order of the keys, at most `limit`. */
  range<K, V>(
    table: Table<K, V>,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse?: boolean,
  ): Iterable<readonly [K, V]>;
}

export interface Ledger extends LedgerView {
  set<K, V>(table: Table<K, V>, key: K, value: V): void;
  remove<K, V>(table: Table<K, V>, key: K): void;
}

/**
 * A write set on top of a view. Nothing below changes until it is committed, so dropping the
 * overlay is all that an error requires. `mark`/`revert` discard the writes of one transaction
 * inside a block without a second overlay.
 */
export interface Overlay extends Ledger {
  mark(): number;
  revert(mark: number): void;
  /**
   * The rows written since the mark, in the order of writing; a row written twice appears twice.
   */
  since(mark: number): Iterable<Written>;
  /** What the writes since the mark have changed: each row once, with its value at the mark. */
  changesSince(mark: number): Iterable<Change>;
  /** The changed keys with the value before and after; `undefined` means absent. */
  changes(): Iterable<Change>;
  /** Number of changed keys. */
  readonly size: number;
}

export interface Written {
  // The types of the table are those of its own key and value; a list of different tables cannot
  // name them.
  readonly table: Table<unknown, unknown>;
  readonly key: Uint8Array;
  readonly after: unknown;
}

export interface Change extends Written {
  readonly before: unknown;
}
