/**
 * One LMDB environment with a sub-database for each table. The store and its writing thread both
 * map the file, so both use the same options, which are here.
 */
import { join } from 'node:path';
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb';
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import { FORMAT } from './check.ts';

export interface EnvironmentOptions {
  readonly folder: string;
  /** All tables; the names are those of the sub-databases and never change. */
  readonly tables: readonly { readonly id: number; readonly name: string }[];
}

export interface Environment {
  readonly root: RootDatabase<Uint8Array, Uint8Array>;
  /** Throws where no table has this number. */
  tableOf(id: number): Table;
  /** The number of the latest transaction that changed the file. */
  lastTransaction(): number;
}

/** The read transaction to use. */
export interface Within {
  readonly transaction: Transaction;
}

/** The binding takes options in this getter too, but its types leave them out. */
export interface Table extends Database<Uint8Array, Uint8Array> {
  getBinaryFast(key: Uint8Array, options?: Within): Buffer | undefined;
}

export const dataFile = (folder: string): string => join(folder, 'data.mdb');

/** Upper limit of the file. It takes address space, but neither memory nor disk. */
const MAP_BYTES = 2 ** 40;
/**
 * Of a new file. A commit copies every page that it touches, and each row at a random key touches
 * one. So small pages keep the file small and blocks of a few hundred transactions cheap. Only a
 * bulk import would be faster with 16384, up to twice on the side of the store.
 */
const PAGE_BYTES = 4096;
export const READERS_MAX = 256;

export const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

/** What all who map the file have in common. */
export const readingOptions = (options: EnvironmentOptions) => ({
  ...BINARY,
  noSubdir: false,
  maxDbs: options.tables.length + 2,
  maxReaders: READERS_MAX,
  mapSize: MAP_BYTES,
  pageSize: PAGE_BYTES,
});

export function openEnvironment(options: EnvironmentOptions): Environment {
  const root = open<Uint8Array, Uint8Array>(options.folder, {
    ...readingOptions(options),
    // With it a commit would be acknowledged before it is on disk.
    overlappingSync: false,
    // The unused bytes of a page can only hold this node's own public data.
    noMemInit: true,
    compression: false,
  });
  const tables: (Table | undefined)[] = [];
  // All at once: opening a sub-database later would invalidate earlier snapshots.
  root.transactionSync(() => {
    for (const { id, name } of options.tables) tables[id] = root.openDB({ ...BINARY, name });
    root.openDB({ ...BINARY, name: FORMAT });
  });
  // The types leave it out.
  const { env } = root as unknown as { env: { info(): { lastTxnId: number } } };
  return {
    root,
    tableOf: (id) => {
      const table = tables[id];
      if (table === undefined) throw new Error(`no table has the number ${id}`);
      return table;
    },
    lastTransaction: () => env.info().lastTxnId,
  };
}

const DAMAGE = /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|PANIC|BAD_TXN)/;

/**
 * Turns those errors of LMDB that mean damage into StoreCorruptError; returns all others unchanged.
 */
export function typed(folder: string, error: unknown): unknown {
  if (error instanceof Error && DAMAGE.test(error.message)) {
    return new StoreCorruptError(folder, error.message, error);
  }
  return error;
}
