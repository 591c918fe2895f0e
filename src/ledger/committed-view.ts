/**
 * The committed state as typed tables. `createCommittedView` keeps the values of frequently read tables
 * decoded; `viewOf` serves a snapshot without a cache.
 *
 * Invariants: a cached value equals the stored one, because the committer reports every row that it
 * writes; absence is cached too; a cached value never keeps a larger buffer in memory.
 */
import { assert } from '../base/assert.ts';
import type { Store, StoreView } from '../base/ports/store.ts';
import { type ChainScheme, CodecError, Reader } from '../codec/codec.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { keyText } from './key-codecs.ts';
import type { LedgerView } from './ledger.ts';
import type { Table } from './table.ts';

/** A view that can be read with an encoded key, so that a stack of views encodes the key once. */
export interface KeyedView extends LedgerView {
  /** `text` is keyText(key) where the caller already has it. */
  lookup<V>(table: Table<unknown, V>, key: Uint8Array, text: string | undefined): V | undefined;
  /** Like `range`, with the keys still encoded. */
  entries<V>(
    table: Table<unknown, V>,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse?: boolean,
  ): Iterable<readonly [Uint8Array, V]>;
}

export interface CommittedView extends KeyedView {
  /** Takes over a committed row, so that the cache agrees with the store. */
  written(table: Table<unknown, unknown>, text: string, value: unknown, bytes: Uint8Array): void;
  removed(table: Table<unknown, unknown>, text: string): void;
}

// Code for tables of any key and value type uses this form. The key codec of each table is applied
// to its own keys only.
export const asUntyped = <K, V>(table: Table<K, V>): Table<unknown, V> =>
  table as unknown as Table<unknown, V>;

/** Decodes stored bytes. Bytes that do not decode mean that the store or the node is wrong. */
export function decodeValue<V>(
  table: Table<unknown, V>,
  bytes: Uint8Array,
  scheme: ChainScheme,
): V {
  const src = new Reader(bytes, scheme);
  const value = readOwn(table, src);
  // The text is made only where it is needed, because values are decoded for every read.
  if (src.remaining !== 0) assert(false, `a value of ${table.name} has trailing bytes`);
  return value;
}

/** What this node has written itself decodes; otherwise a peer would be blamed for it. */
function readOwn<V>(table: Table<unknown, V>, src: Reader): V {
  try {
    return table.value.read(src);
  } catch (cause) {
    assert(!(cause instanceof CodecError), `a value of ${table.name} decodes: ${String(cause)}`);
    throw cause;
  }
}

export function* decodeKeys<K, V>(
  table: Table<K, V>,
  entries: Iterable<readonly [Uint8Array, V]>,
): Generator<readonly [K, V]> {
  for (const [key, value] of entries) yield [table.key.decode(key), value];
}

/** A frozen or live store as typed tables, without a cache. */
export function viewOf(store: StoreView, scheme: ChainScheme): KeyedView {
  function lookup<V>(table: Table<unknown, V>, key: Uint8Array): V | undefined {
    const bytes = store.get(table.id, key);
    return bytes === undefined ? undefined : decodeValue(table, bytes, scheme);
  }
  function* entries<V>(
    table: Table<unknown, V>,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse = false,
  ): Generator<readonly [Uint8Array, V]> {
    for (const [key, bytes] of store.range(table.id, from, to, limit, reverse)) {
      yield [key, decodeValue(table, bytes, scheme)];
    }
  }
  return {
    scheme,
    lookup,
    entries,
    get: (table, key) => lookup(asUntyped(table), table.key.encode(key)),
    range: (table, from, to, limit, reverse) =>
      decodeKeys(table, entries(asUntyped(table), from, to, limit, reverse)),
  };
}

/** The committed state of the main thread. */
export function createCommittedView(store: Store, scheme: ChainScheme): CommittedView {
  const plain = viewOf(store, scheme);
  const caches: (BoundedCache<string, unknown> | undefined)[] = [];

  const cacheOf = (table: Table<unknown, unknown>): BoundedCache<string, unknown> => {
    let cache = caches[table.id];
    if (cache === undefined) {
      // The cache holds up to twice its number.
      cache = new BoundedCache(Math.max(1, table.cached >>> 1));
      caches[table.id] = cache;
    }
    return cache;
  };

  function lookup<V>(
    table: Table<unknown, V>,
    key: Uint8Array,
    text: string | undefined,
  ): V | undefined {
    if (table.cached === 0) return plain.lookup(table, key, text);
    const cache = cacheOf(table);
    const name = text ?? keyText(key);
    const known = cache.get(name);
    // A cache holds values of its own table only.
    if (known !== undefined) return known === ABSENT ? undefined : (known as V);
    const bytes = store.get(table.id, key);
    // The store's copy may share its buffer with other rows.
    const value = bytes && decodeValue(table, bytes.slice(), scheme);
    cache.set(name, value === undefined ? ABSENT : value);
    return value;
  }

  return {
    scheme,
    lookup,
    entries: plain.entries,
    get: (table, key) => lookup(asUntyped(table), table.key.encode(key), undefined),
    range: plain.range,
    written: (table, text, value, bytes) => {
      if (table.cached === 0) return;
      // A value with byte fields may be a view into a whole block, so it is decoded again from a
      // copy.
      const own = isSelfContained(value) ? value : decodeValue(table, bytes.slice(), scheme);
      cacheOf(table).set(text, own);
    },
    removed: (table, text) => {
      if (table.cached > 0) cacheOf(table).set(text, ABSENT);
    },
  };
}

const ABSENT = Symbol('absent');

const isSelfContained = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (ArrayBuffer.isView(value)) return false;
  for (const field of Object.values(value)) if (typeof field === 'object') return false;
  return true;
};
