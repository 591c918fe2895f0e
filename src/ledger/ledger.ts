/**
 * What rules see of the state: typed tables at one point of the chain. Rules read and write only
 * through this interface and know neither clock nor disk nor network.
 */
import type { ChainScheme } from '../codec/codec.ts';
import type { Table } from './table.ts';

/** A read-only view of the state: the committed head, a snapshot of it, or an overlay. */
export interface LedgerView {
  readonly scheme: ChainScheme;
  /** Values are shared and must be treated as immutable. */
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
 * A write set on top of a view. Nothing below changes until it is committed, so dropping an overlay
 * is the whole error recovery. `mark`/`revert` discard the writes of one transaction inside a block
 * without a second overlay.
 */
export interface Overlay extends Ledger {
  mark(): number;
  revert(mark: number): void;
  /** Rows written since the mark, in the order of writing; one written twice comes twice. */
  since(mark: number): Iterable<Change>;
  /** Changed keys with the value before and after; `undefined` means absent. */
  changes(): Iterable<Change>;
  /** Number of changed keys. */
  readonly size: number;
}

export interface Change {
  // The table's types are those of its own key and value; a heterogeneous list cannot name them.
  readonly table: Table<unknown, unknown>;
  readonly key: Uint8Array;
  readonly before: unknown;
  readonly after: unknown;
}
