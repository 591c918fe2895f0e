/**
 * The writes of an overlay: rows by table and key, each with its value before and after, and the
 * order of the writes, so that `revert` can undo the newest.
 *
 * Invariant: nothing is allocated for tables that are only read.
 */
import { assert } from '../base/assert.ts';
import { keyText } from './key-codecs.ts';
import type { Change, Written } from './ledger.ts';
import type { Table } from './table.ts';

/** A change with its key as text, which orders and identifies it without encoding the key again. */
export interface Row extends Change {
  readonly text: string;
}

// The journal's mark for a row that did not exist before.
const NEW = Symbol('new');

/** So few rows are found sooner one after the other than in a Map. */
const FEW = 8;
/** So few new keys are inserted sooner than sorted. */
const FEW_NEW = 16;

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
  since(mark: number): readonly Written[] {
    return this.journalRows.slice(mark);
  }

  changesSince(mark: number): readonly Change[] {
    const { journalRows, journalValues } = this;
    const seen = journalRows.length - mark > FEW ? new Set<WrittenRow>() : undefined;
    const changes: Change[] = [];
    for (let i = mark; i < journalRows.length; i++) {
      const row = journalRows[i]!;
      if (seen === undefined ? journalRows.indexOf(row, mark) < i : seen.has(row)) continue;
      seen?.add(row);
      const { table, key, after } = row;
      const value = journalValues[i];
      changes.push({ table, key, before: value === NEW ? row.before : value, after });
    }
    return changes;
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
  /** Whoever takes them ends them with `return`: until then each change of the rows costs a copy. */
  readonly rows: RowsBetween;
}

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
  private sorted: SortedKeys | undefined;
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
    this.settled();
    const keys = this.changeable();
    keys.splice(lowerBound(keys, row.text), 1);
  }

  /** The present rows with from ≤ key < to, in the requested order. */
  between(from: Uint8Array, to: Uint8Array, reverse: boolean): RowRange {
    const sorted = this.settled();
    const start = lowerBound(sorted.keys, keyText(from));
    const end = Math.max(start, lowerBound(sorted.keys, keyText(to)));
    return { size: end - start, rows: new RowsBetween(this, sorted, start, end, reverse) };
  }

  private amongFew(text: string): WrittenRow | undefined {
    for (const row of this.few) if (row.text === text) return row;
    return undefined;
  }

  // A few new keys are inserted at their places; after many it is cheaper to sort again.
  private settled(): SortedKeys {
    const { unsorted } = this;
    if (this.sorted === undefined) {
      this.sorted = { keys: Array.from(this.all(), ({ text }) => text).sort(), readers: 0 };
    } else if (unsorted.length > 0) {
      const keys = this.changeable();
      if (unsorted.length <= FEW_NEW) {
        for (const text of unsorted) keys.splice(lowerBound(keys, text), 0, text);
      } else {
        for (const text of unsorted) keys.push(text);
        keys.sort();
      }
      this.unsorted = [];
    }
    return this.sorted;
  }

  /** The keys in order, as a copy where a reader is on its way through them. */
  private changeable(): string[] {
    const { keys, readers } = this.sorted!;
    if (readers === 0) return keys;
    this.sorted = { keys: [...keys], readers: 0 };
    return this.sorted.keys;
  }
}

interface SortedKeys {
  readonly keys: string[];
  /** Those that have begun and not ended; the keys do not change before them. */
  readers: number;
}

/** Looks for each row only when the reader has come to it. */
class RowsBetween implements Iterator<WrittenRow, undefined> {
  private readonly table: TableRows;
  private readonly sorted: SortedKeys;
  private readonly step: 1 | -1;
  private left: number;
  private at: number;
  private isReading = false;

  constructor(table: TableRows, sorted: SortedKeys, start: number, end: number, reverse: boolean) {
    this.table = table;
    this.sorted = sorted;
    this.left = end - start;
    this.at = reverse ? end - 1 : start;
    this.step = reverse ? -1 : 1;
    if (this.left > 0) this.hold(true);
  }

  next(): IteratorResult<WrittenRow, undefined> {
    while (this.left > 0) {
      const row = this.table.find(this.sorted.keys[this.at]!);
      this.at += this.step;
      this.left--;
      // It may have been taken back since.
      if (row !== undefined) return { done: false, value: row };
    }
    return this.return();
  }

  return(): IteratorReturnResult<undefined> {
    this.left = 0;
    if (this.isReading) this.hold(false);
    return { done: true, value: undefined };
  }

  private hold(isReading: boolean): void {
    this.isReading = isReading;
    this.sorted.readers += isReading ? 1 : -1;
  }
}

class WrittenRow implements Row {
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
