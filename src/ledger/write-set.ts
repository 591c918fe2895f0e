/**
 * The writes of an overlay: rows by table and key, each with its value before and after, and the
 * order of the writes, so that `revert` can undo the newest.
 *
 * Invariant: nothing is allocated for tables that are only read.
 */
import { assert } from '../base/assert.ts';
import { keyText } from './key-codecs.ts';
import type { Change } from './ledger.ts';
import type { Table } from './table.ts';

/** A change with its key as text, which orders and identifies it without encoding the key again. */
export interface Row extends Change {
  readonly text: string;
}

// The journal's mark for a row that did not exist before.
const NEW = Symbol('new');

export class WriteSet {
  /** Changed keys. */
  size = 0;
  private readonly tables: (TableRows | undefined)[] = [];
  // The rows that `revert` restores, newest last: each with its value before the write.
  private readonly journalRows: WrittenRow[] = [];
  private readonly journalValues: unknown[] = [];

  /** The rows of a table; undefined where the table was only read. */
  of(table: number): TableRows | undefined {
    return this.tables[table];
  }

  /** The first write to this key. */
  add(
    table: Table<unknown, unknown>,
    key: Uint8Array,
    text: string,
    before: unknown,
    after: unknown,
  ): void {
    let rows = this.tables[table.id];
    if (rows === undefined) {
      rows = new TableRows(table);
      this.tables[table.id] = rows;
    }
    const row = new WrittenRow(rows, key, text, before, after);
    rows.add(row);
    this.size++;
    this.journalRows.push(row);
    this.journalValues.push(NEW);
  }

  change(row: WrittenRow, after: unknown): void {
    this.journalRows.push(row);
    this.journalValues.push(row.after);
    row.after = after;
  }

  *changes(): Generator<Row> {
    for (const rows of this.tables) if (rows !== undefined) yield* rows.byText.values();
  }

  mark(): number {
    return this.journalRows.length;
  }

  /** A list, since each transaction asks for a few rows, and a generator would cost more. */
  since(mark: number): readonly Row[] {
    return this.journalRows.slice(mark);
  }

  revert(mark: number): void {
    const { journalRows, journalValues } = this;
    assert(mark <= journalRows.length, 'marks are reverted from the newest to the oldest');
    for (let i = journalRows.length - 1; i >= mark; i--) {
      const row = journalRows[i]!;
      const value = journalValues[i];
      if (value === NEW) {
        row.rows.drop(row.text);
        this.size--;
      } else {
        row.after = value;
      }
    }
    journalRows.length = mark;
    journalValues.length = mark;
  }
}

/** The written rows of one table. */
export class TableRows {
  readonly table: Table<unknown, unknown>;
  readonly byText = new Map<string, WrittenRow>();
  // Keys in order, kept only after the first range query; `unsorted` holds the keys added later.
  private sorted: string[] | undefined;
  private unsorted: string[] = [];

  constructor(table: Table<unknown, unknown>) {
    this.table = table;
  }

  add(row: WrittenRow): void {
    this.byText.set(row.text, row);
    if (this.sorted !== undefined) this.unsorted.push(row.text);
  }

  drop(text: string): void {
    this.byText.delete(text);
    if (this.sorted === undefined) return;
    this.settle();
    this.sorted.splice(lowerBound(this.sorted, text), 1);
  }

  /** The rows with from ≤ key < to, in the requested order. */
  between(from: Uint8Array, to: Uint8Array, reverse: boolean): WrittenRow[] {
    this.sorted ??= [...this.byText.keys()].sort();
    this.settle();
    const start = lowerBound(this.sorted, keyText(from));
    const end = lowerBound(this.sorted, keyText(to));
    const rows: WrittenRow[] = [];
    for (let i = start; i < end; i++) rows.push(this.byText.get(this.sorted[i]!)!);
    return reverse ? rows.reverse() : rows;
  }

  // A few new keys are inserted at their places; after many it is cheaper to sort again.
  private settle(): void {
    const { sorted, unsorted } = this;
    if (sorted === undefined || unsorted.length === 0) return;
    if (unsorted.length > 16) {
      sorted.push(...unsorted);
      sorted.sort();
    } else {
      for (const text of unsorted) sorted.splice(lowerBound(sorted, text), 0, text);
    }
    this.unsorted = [];
  }
}

export class WrittenRow implements Row {
  readonly rows: TableRows;
  readonly key: Uint8Array;
  readonly text: string;
  readonly before: unknown;
  after: unknown;

  constructor(rows: TableRows, key: Uint8Array, text: string, before: unknown, after: unknown) {
    this.rows = rows;
    this.key = key;
    this.text = text;
    this.before = before;
    this.after = after;
  }

  get table(): Table<unknown, unknown> {
    return this.rows.table;
  }
}

/** Index of the first text that is not below `text`. */
function lowerBound(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
