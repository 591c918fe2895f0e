/**
 * A private write set on top of a view. A block is checked in one, and dropping it is all that an
 * error requires.
 *
 * Invariants: the view below never changes while an overlay on it is in use; `before` is the value
 * in the view below, except in `local` tables, which have no undo, so that their rows are written
 * without a read; values are immutable, so `set` replaces them.
 */
import { assert } from '../base/assert.ts';
import { asUntyped, decodeKeys, type KeyedView } from './committed-view.ts';
import { keyText } from './key-codecs.ts';
import type { LedgerView, Overlay } from './ledger.ts';
import type { Table } from './table.ts';
import { type Row, type RowRange, WriteSet } from './write-set.ts';

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

/**
 * `fresh` names tables (by number) whose rows are written once, because their key contains the
 * height. Their first write needs no read either.
 */
export function createOverlay(
  base: LedgerView,
  fresh: ReadonlySet<number> = new Set(),
): KeyedOverlay {
  let below = keyed(base);
  const written = new WriteSet();
  const textOf = rememberingTexts();

  function lookup<V>(
    table: Table<unknown, V>,
    key: Uint8Array,
    text: string | undefined,
  ): V | undefined {
    const rows = written.of(table.id);
    if (rows === undefined) return below.lookup(table, key, text);
    const name = text ?? keyText(key);
    const row = rows.find(name);
    // A row holds values of its own table only.
    return row === undefined ? below.lookup(table, key, name) : (row.after as V | undefined);
  }

  function write(table: Table<unknown, unknown>, key: Uint8Array, value: unknown): void {
    const text = textOf(key);
    const row = written.of(table.id)?.find(text);
    if (row !== undefined) {
      written.change(row, value);
      return;
    }
    const isBlind = table.kind === 'local' || fresh.has(table.id);
    written.add(table, key, text, isBlind ? undefined : below.lookup(table, key, text), value);
  }

  const entries: KeyedView['entries'] = (table, from, to, limit, reverse = false) => {
    const own = written.of(table.id)?.between(from, to, reverse);
    if (own === undefined || own.size === 0) return below.entries(table, from, to, limit, reverse);
    // Every row of the overlay hides at most one row below.
    const stored = below.entries(table, from, to, limit + own.size, reverse);
    return merged(own.rows, stored, limit, reverse);
  };

  return {
    scheme: base.scheme,
    lookup,
    entries,
    write,
    changes: () => written.changes(),
    rebase: (same) => {
      below = keyed(same);
    },
    get size() {
      return written.size;
    },
    get: (table, key) => {
      const bytes = table.key.encode(key);
      return lookup(asUntyped(table), bytes, textOf(bytes));
    },
    range: (table, from, to, limit, reverse) =>
      decodeKeys(table, entries(asUntyped(table), from, to, limit, reverse)),
    set: (table, key, value) => {
      assert(value !== undefined, 'an absent value is a removal');
      write(asUntyped(table), table.key.encode(key), value);
    },
    remove: (table, key) => write(asUntyped(table), table.key.encode(key), undefined),
    mark: () => written.mark(),
    since: (mark) => written.since(mark),
    changesSince: (mark) => written.changesSince(mark),
    revert: (mark) => written.revert(mark),
  };
}

/**
 * `keyText`, for the two latest keys without work: a transaction concerns few addresses, and asks
 * for each several times. Keys never change.
 */
function rememberingTexts(): (key: Uint8Array) => string {
  let latest: Uint8Array | undefined;
  let before: Uint8Array | undefined;
  let latestText = '';
  let beforeText = '';
  return (key) => {
    if (key === latest) return latestText;
    const text = key === before ? beforeText : keyText(key);
    before = latest;
    beforeText = latestText;
    latest = key;
    latestText = text;
    return text;
  };
}

/** Rows of the overlay and of the view below in one order; rows of the overlay hide those below. */
function* merged<V>(
  rows: RowRange['rows'],
  stored: Iterable<readonly [Uint8Array, V]>,
  limit: number,
  reverse: boolean,
): Generator<readonly [Uint8Array, V]> {
  try {
    let left = limit;
    if (left <= 0) return;
    let row = rows.next().value;
    for (const entry of stored) {
      const text = keyText(entry[0]);
      while (row !== undefined && (reverse ? row.text > text : row.text < text)) {
        if (row.after !== undefined) {
          yield [row.key, row.after as V];
          if (--left === 0) return;
        }
        row = rows.next().value;
      }
      if (row !== undefined && row.text === text) {
        const { key, after } = row;
        row = rows.next().value;
        if (after === undefined) continue;
        yield [key, after as V];
      } else {
        yield entry;
      }
      if (--left === 0) return;
    }
    for (; row !== undefined; row = rows.next().value) {
      if (row.after === undefined) continue;
      yield [row.key, row.after as V];
      if (--left === 0) return;
    }
  } finally {
    rows.return();
  }
}

const isKeyed = (view: LedgerView): view is KeyedView => 'lookup' in view && 'entries' in view;

/** Makes any view readable with encoded keys. */
function keyed(view: LedgerView): KeyedView {
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
