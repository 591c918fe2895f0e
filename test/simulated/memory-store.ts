/**
 * The store in memory (base/ports/store.ts), for tests and simulation: same order, same atomicity and
 * same copies as the store on disk.
 *
 * `fail` is the fault hook: it is called before every single change and once more before the end of
 * a write. An error that it throws leaves the store as it was, like a crash in a transaction.
 */
import type { Store, StoreView, StoreWrite } from '../../src/base/ports/store.ts';

export interface MemoryStoreOptions {
  /** What it holds at the beginning. */
  readonly rows?: Iterable<StoreWrite>;
  /** `step` counts the changes of one write; `of` is their number, so the last call has step = of. */
  readonly fail?: (step: number, of: number) => void;
  /** Asked at the beginning of a write, which lands when that resolves. */
  readonly hold?: () => Promise<void>;
}

export interface MemoryStore extends Store {
  /** All rows in order of table and key, to compare two stores. */
  dump(): readonly StoreWrite[];
}

type Pair = readonly [Uint8Array, Uint8Array];

/** One table: values by key text, and the keys in order, sorted when they are asked for. */
interface Rows {
  readonly values: Map<string, Pair>;
  sorted: string[] | undefined;
}

type Tables = Map<number, Rows>;

const text = (key: Uint8Array): string => Buffer.from(key).toString('latin1');

const sortedKeys = (rows: Rows): string[] => {
  rows.sorted ??= [...rows.values.keys()].sort();
  return rows.sorted;
};

const lowerBound = (keys: readonly string[], key: string): number => {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
};

const copyOf = ([key, value]: Pair): Pair => [key.slice(), value.slice()];

const view = (tables: () => Tables): StoreView => ({
  get: (table, key) => tables().get(table)?.values.get(text(key))?.[1].slice(),
  *range(table, from, to, limit, reverse = false) {
    const rows = tables().get(table);
    if (rows === undefined) return;
    const keys = sortedKeys(rows);
    const start = lowerBound(keys, text(from));
    const end = lowerBound(keys, text(to));
    const count = Math.min(limit, end - start);
    // The keys are fixed here, so that a write during the walk does not disturb it.
    const chosen = reverse
      ? keys.slice(Math.max(start, end - count), end).reverse()
      : keys.slice(start, start + Math.max(0, count));
    const pairs = chosen.map((key) => rows.values.get(key)!);
    for (const pair of pairs) yield copyOf(pair);
  },
});

export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const tables: Tables = new Map();
  let open = true;
  // Tables that a snapshot may be looking at are copied before the first change to them.
  let shared = new Set<Rows>();
  let snapshots = 0;
  let last: Promise<void> = Promise.resolve();

  const current = (): Tables => {
    if (!open) throw new Error('the store is closed');
    return tables;
  };

  function apply(list: readonly StoreWrite[], fail = options.fail): void {
    current();
    for (const { key } of list) if (key.length === 0) throw new Error('an empty key');
    for (let step = 0; step <= list.length; step++) fail?.(step, list.length);
    for (const { table, key, value } of list) {
      const rows = owned(table);
      const name = text(key);
      const known = rows.values.has(name);
      if (value === undefined) rows.values.delete(name);
      else rows.values.set(name, [key.slice(), value.slice()]);
      if (known !== (value !== undefined)) rows.sorted = undefined;
    }
  }

  const owned = (id: number): Rows => {
    const rows = tables.get(id);
    if (rows !== undefined && !shared.has(rows)) return rows;
    const own: Rows = { values: new Map(rows?.values), sorted: rows?.sorted };
    tables.set(id, own);
    return own;
  };

  apply([...(options.rows ?? [])], () => {});

  return {
    ...view(current),
    write: (writes, landed) => {
      const written = last.then(async () => {
        const list = [...writes];
        await options.hold?.();
        apply(list);
        landed?.();
      });
      last = written.catch(() => undefined);
      return written;
    },
    snapshot: () => {
      const frozen: Tables = new Map(current());
      for (const rows of frozen.values()) shared.add(rows);
      let released = false;
      snapshots++;
      return {
        ...view(() => {
          if (released) throw new Error('the snapshot is released');
          return frozen;
        }),
        release: () => {
          if (released) return;
          released = true;
          if (--snapshots === 0) shared = new Set();
        },
      };
    },
    size: () => 0,
    dump: () =>
      [...current().entries()]
        .sort(([a], [b]) => a - b)
        .flatMap(([table, rows]) =>
          sortedKeys(rows).map((key) => {
            const [bytes, value] = copyOf(rows.values.get(key)!);
            return { table, key: bytes, value };
          }),
        ),
    close: async () => {
      await last;
      open = false;
    },
  };
}
