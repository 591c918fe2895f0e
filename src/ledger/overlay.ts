/**
 * A private write set on top of a view. A block is checked in one, and dropping it is all that an
 * error requires.
 *
 * Invariants: the view below never changes while an overlay on it is in use; `before` is the value
 * in the view below, except in `local` tables, which have no undo, so that their rows are written
 * without a read; values are immutable, so `set` replaces them; nothing is allocated for tables
 * that are only read.
 */
import { assert } from '../base/assert.ts';
import { asUntyped, decodeKeys, type KeyedView } from './head.ts';
import { keyText } from './key-codecs.ts';
import type { Change, LedgerView, Overlay } from './ledger.ts';
import type { Table } from './table.ts';

/** A change with its key as text, which orders and identifies it without encoding the key again. */
export interface Row extends Change {
  readonly text: string;
}

export interface KeyedOverlay extends Overlay, KeyedView {
  /** `set`, or `remove` where `value` is undefined, for a row whose key is already encoded. */
  write(table: Table<unknown, unknown>, key: Uint8Array, value: unknown): void;
  changes(): Iterable<Row>;
  /**
   * Moves the overlay to another view with the same content as the one below, and drops the old
   * one.
   */
  rebase(base: LedgerView): void;
}

/** The rows of one table that the overlay has written. */
class Rows {
  readonly table: Table<unknown, unknown>;
  readonly byText = new Map<string, OverlayRow>();
  // Keys in order, kept only after the first range query; `unsorted` holds the keys added later.
  private sorted: string[] | undefined;
  private unsorted: string[] = [];

  constructor(table: Table<unknown, unknown>) {
    this.table = table;
  }

  add(row: OverlayRow): void {
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
  between(from: Uint8Array, to: Uint8Array, reverse: boolean): OverlayRow[] {
    this.sorted ??= [...this.byText.keys()].sort();
    this.settle();
    const start = lowerBound(this.sorted, keyText(from));
    const end = lowerBound(this.sorted, keyText(to));
    const rows: OverlayRow[] = [];
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

class OverlayRow implements Row {
  readonly rows: Rows;
  readonly key: Uint8Array;
  readonly text: string;
  readonly before: unknown;
  after: unknown;

  constructor(rows: Rows, key: Uint8Array, text: string, before: unknown, after: unknown) {
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

// The journal's mark for a row that did not exist before.
const NEW = Symbol('new');

/**
 * `fresh` names tables (by number) whose rows are written once, because their key contains the
 * height. Their first write needs no read either.
 */
export function createOverlay(
  base: LedgerView,
  fresh: ReadonlySet<number> = new Set(),
): KeyedOverlay {
  let below = keyed(base);
  const written: (Rows | undefined)[] = [];
  // The rows that `revert` restores, newest last: each with its value before the write.
  const journalRows: OverlayRow[] = [];
  const journalValues: unknown[] = [];
  let size = 0;

  function lookup<V>(
    table: Table<unknown, V>,
    key: Uint8Array,
    text: string | undefined,
  ): V | undefined {
    const rows = written[table.id];
    if (rows === undefined) return below.lookup(table, key, text);
    const name = text ?? keyText(key);
    const row = rows.byText.get(name);
    // A row holds values of its own table only.
    return row === undefined ? below.lookup(table, key, name) : (row.after as V | undefined);
  }

  function write(table: Table<unknown, unknown>, key: Uint8Array, value: unknown): void {
    let rows = written[table.id];
    if (rows === undefined) {
      rows = new Rows(table);
      written[table.id] = rows;
    }
    const text = keyText(key);
    let row = rows.byText.get(text);
    if (row === undefined) {
      const blind = table.kind === 'local' || fresh.has(table.id);
      const before = blind ? undefined : below.lookup(table, key, text);
      row = new OverlayRow(rows, key, text, before, value);
      rows.add(row);
      size++;
      journalValues.push(NEW);
    } else {
      journalValues.push(row.after);
      row.after = value;
    }
    journalRows.push(row);
  }

  function* merged<V>(
    rows: OverlayRow[],
    stored: Iterable<readonly [Uint8Array, V]>,
    limit: number,
    reverse: boolean,
  ): Generator<readonly [Uint8Array, V]> {
    let left = limit;
    let next = 0;
    if (left <= 0) return;
    for (const entry of stored) {
      const text = keyText(entry[0]);
      let row = rows[next];
      while (row !== undefined && (reverse ? row.text > text : row.text < text)) {
        if (row.after !== undefined) {
          yield [row.key, row.after as V];
          if (--left === 0) return;
        }
        row = rows[++next];
      }
      if (row !== undefined && row.text === text) {
        next++;
        if (row.after === undefined) continue;
        yield [row.key, row.after as V];
      } else {
        yield entry;
      }
      if (--left === 0) return;
    }
    for (; next < rows.length; next++) {
      const row = rows[next]!;
      if (row.after === undefined) continue;
      yield [row.key, row.after as V];
      if (--left === 0) return;
    }
  }

  function entries<V>(
    table: Table<unknown, V>,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse = false,
  ): Iterable<readonly [Uint8Array, V]> {
    const rows = written[table.id]?.between(from, to, reverse) ?? [];
    if (rows.length === 0) return below.entries(table, from, to, limit, reverse);
    // Every row of the overlay hides at most one row below.
    const stored = below.entries(table, from, to, limit + rows.length, reverse);
    return merged(rows, stored, limit, reverse);
  }

  function* changes(): Generator<Row> {
    for (const rows of written) if (rows !== undefined) yield* rows.byText.values();
  }

  return {
    scheme: base.scheme,
    lookup,
    entries,
    write,
    changes,
    rebase: (same) => {
      below = keyed(same);
    },
    get size() {
      return size;
    },
    get: (table, key) => lookup(asUntyped(table), table.key.encode(key), undefined),
    range: (table, from, to, limit, reverse) =>
      decodeKeys(table, entries(asUntyped(table), from, to, limit, reverse)),
    set: (table, key, value) => {
      assert(value !== undefined, 'an absent value is a removal');
      write(asUntyped(table), table.key.encode(key), value);
    },
    remove: (table, key) => write(asUntyped(table), table.key.encode(key), undefined),
    mark: () => journalRows.length,
    *since(mark) {
      for (let i = mark; i < journalRows.length; i++) yield journalRows[i]!;
    },
    revert: (mark) => {
      assert(mark <= journalRows.length, 'marks are reverted from the newest to the oldest');
      for (let i = journalRows.length - 1; i >= mark; i--) {
        const row = journalRows[i]!;
        const value = journalValues[i];
        if (value === NEW) {
          row.rows.drop(row.text);
          size--;
        } else {
          row.after = value;
        }
      }
      journalRows.length = mark;
      journalValues.length = mark;
    },
  };
}

const isKeyed = (view: LedgerView): view is KeyedView => 'lookup' in view && 'entries' in view;

/** Makes any view readable with encoded keys. */
export function keyed(view: LedgerView): KeyedView {
  if (isKeyed(view)) return view;
  return {
    ...view,
    scheme: view.scheme,
    lookup: (table, key) => view.get(table, table.key.decode(key)),
    *entries(table, from, to, limit, reverse) {
      for (const [key, value] of view.range(table, from, to, limit, reverse)) {
        yield [table.key.encode(key), value];
      }
    },
  };
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
