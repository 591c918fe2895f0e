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
    for (const rows of this.tables) if (rows !== undefined) yield* rows.all();
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
        row.rows.drop(row);
        this.size--;
      } else {
        row.after = value;
      }
    }
    journalRows.length = mark;
    journalValues.length = mark;
  }
}

export interface RowRange {
  readonly size: number;
  readonly rows: Iterator<WrittenRow, undefined>;
}

/** So few rows are found sooner one after the other than in a Map. */
const FEW = 8;

/**
 * The written rows of one table. A trial writes two or three rows and takes them back, and a Map
 * that becomes empty allocates a new table each time.
 */
export class TableRows {
  readonly table: Table<unknown, unknown>;
  /** In the order of writing; all of them until there are more than a few. */
  private readonly few: WrittenRow[] = [];
  private many: Map<string, WrittenRow> | undefined;
  /** The row that was found last: transactions read a row and then write it. */
  private latest: WrittenRow | undefined;
  // Keys in order, kept only after the first range query; `unsorted` holds the keys added later.
  // Readers of a range hold the list, so that a change makes a new one.
  private sorted: readonly string[] | undefined;
  private unsorted: string[] = [];

  constructor(table: Table<unknown, unknown>) {
    this.table = table;
  }

  find(text: string): WrittenRow | undefined {
    if (this.latest !== undefined && this.latest.text === text) return this.latest;
    const row = this.many === undefined ? this.amongFew(text) : this.many.get(text);
    if (row !== undefined) this.latest = row;
    return row;
  }

  /** In the order of writing. */
  all(): Iterable<WrittenRow> {
    return this.many === undefined ? this.few : this.many.values();
  }

  add(row: WrittenRow): void {
    this.latest = row;
    if (this.many !== undefined) this.many.set(row.text, row);
    else if (this.few.length < FEW) this.few.push(row);
    else this.many = new Map([...this.few, row].map((one) => [one.text, one]));
    if (this.sorted !== undefined) this.unsorted.push(row.text);
  }

  drop(row: WrittenRow): void {
    this.latest = undefined;
    if (this.many !== undefined) this.many.delete(row.text);
    else if (this.few.at(-1) === row) this.few.pop();
    else this.few.splice(this.few.indexOf(row), 1);
    if (this.sorted === undefined) return;
    const sorted = this.settled();
    this.sorted = sorted.toSpliced(lowerBound(sorted, row.text), 1);
  }

  /** The present rows with from ≤ key < to, in the requested order. */
  between(from: Uint8Array, to: Uint8Array, reverse: boolean): RowRange {
    const sorted = this.settled();
    const start = lowerBound(sorted, keyText(from));
    const end = Math.max(start, lowerBound(sorted, keyText(to)));
    return { size: end - start, rows: this.read(sorted, start, end, reverse) };
  }

  /** Looks for each row only when the reader has come to it. */
  private *read(
    sorted: readonly string[],
    start: number,
    end: number,
    reverse: boolean,
  ): Generator<WrittenRow> {
    for (let i = start; i < end; i++) {
      const row = this.find(sorted[reverse ? start + end - 1 - i : i]!);
      // It may have been taken back since.
      if (row !== undefined) yield row;
    }
  }

  private amongFew(text: string): WrittenRow | undefined {
    for (const row of this.few) if (row.text === text) return row;
    return undefined;
  }

  // A few new keys are inserted at their places; after many it is cheaper to sort again.
  private settled(): readonly string[] {
    const { sorted, unsorted } = this;
    if (sorted === undefined) {
      this.sorted = Array.from(this.all(), ({ text }) => text).sort();
    } else if (unsorted.length > 0) {
      const all = sorted.concat(unsorted.length > 16 ? unsorted : []);
      if (unsorted.length > 16) all.sort();
      else for (const text of unsorted) all.splice(lowerBound(all, text), 0, text);
      this.sorted = all;
      this.unsorted = [];
    }
    return this.sorted!;
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
