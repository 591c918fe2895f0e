/**
 * New rows of one table in a few arrays. A block has thousands of them, and an object for each would
 * cost more than the row itself.
 */
import type { StoreWrite } from './ports/store.ts';

export interface RowColumn {
  readonly table: number;
  /** The keys one after the other, all of one length. The store is fastest if they ascend. */
  readonly keys: Uint8Array;
  readonly keyBytes: number;
  /** A value for each key; or values of one length, one after the other. */
  readonly values: readonly Uint8Array[] | Uint8Array;
}

export const rowCount = ({ keys, keyBytes }: RowColumn): number => keys.length / keyBytes;

/** The length of each value where all have the same. */
export const valueBytes = (column: RowColumn, values: Uint8Array): number =>
  values.length / rowCount(column);

/** The same as single rows. */
export function* rowsOf(column: RowColumn): Generator<StoreWrite> {
  const { table, keys, keyBytes, values } = column;
  const length = values instanceof Uint8Array ? valueBytes(column, values) : 0;
  for (let i = 0; i < rowCount(column); i++) {
    const key = keys.slice(i * keyBytes, (i + 1) * keyBytes);
    const value =
      values instanceof Uint8Array ? values.slice(i * length, (i + 1) * length) : values[i]!;
    yield { table, key, value };
  }
}

/** Single rows, then columns. A store that does not know columns iterates over all as rows. */
export class RowsAndColumns implements Iterable<StoreWrite> {
  readonly rows: Iterable<StoreWrite>;
  readonly columns: readonly RowColumn[];

  constructor(rows: Iterable<StoreWrite>, columns: readonly RowColumn[]) {
    this.rows = rows;
    this.columns = columns;
  }

  *[Symbol.iterator](): Generator<StoreWrite> {
    yield* this.rows;
    for (const column of this.columns) yield* rowsOf(column);
  }
}
