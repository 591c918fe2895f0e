/**
 * One LMDB environment with a sub-database for each table, as the store and its writing thread open
 * it: both have the same file mapped, so they must agree on every option.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb';
import { StoreCorruptError } from '../../base/store-damage.ts';
import { FORMAT } from './check.ts';
import { PageFile } from './database-pages.ts';

export interface EnvironmentOptions {
  readonly folder: string;
  /** All tables; the names are those of the sub-databases and never change. */
  readonly tables: readonly { readonly id: number; readonly name: string }[];
  /** Upper limit of the file; address space, neither memory nor disk. */
  readonly mapBytes?: number;
  /** Size of a page of a new file. */
  readonly pageBytes?: number;
}

export interface Environment {
  readonly root: RootDatabase<Uint8Array, Uint8Array>;
  /** Throws where no table has this number. */
  tableOf(id: number): Table;
  /** Number of the latest transaction that changed something. */
  lastTransaction(): number;
}

/** Which read transaction to look through. */
export interface Within {
  readonly transaction: Transaction;
}

/** The binding takes options in this getter too; its types leave them out. */
export interface Table extends Database<Uint8Array, Uint8Array> {
  getBinaryFast(key: Uint8Array, options?: Within): Buffer | undefined;
}

export const dataFile = (folder: string): string => join(folder, 'data.mdb');

const MAP_BYTES = 2 ** 40;
/**
 * A commit copies every page it touches, and rows at random keys touch one each: small pages keep
 * blocks of a few hundred transactions cheap and the file small. A bulk import alone would be up to
 * twice as fast on the store's side with 16384.
 */
const PAGE_BYTES = 4096;
const READERS_MAX = 256;

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

export function openEnvironment(options: EnvironmentOptions): Environment {
  const root = open<Uint8Array, Uint8Array>(options.folder, {
    ...BINARY,
    noSubdir: false,
    maxDbs: options.tables.length + 2,
    maxReaders: READERS_MAX,
    mapSize: options.mapBytes ?? MAP_BYTES,
    pageSize: options.pageBytes ?? PAGE_BYTES,
    // With it a commit would be acknowledged before it is on disk.
    overlappingSync: false,
    // Whatever stands in unused bytes of a page is this node's own public data.
    noMemInit: true,
    compression: false,
  });
  const tables: (Table | undefined)[] = [];
  // All at once: a sub-database opened later would cut off the snapshots taken before.
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

/** Number of the latest transaction in a file that another process may have open; 0n for none. */
export function latestTransaction(folder: string): bigint {
  const path = dataFile(folder);
  if (!existsSync(path)) return 0n;
  const file = new PageFile(path);
  file.close();
  return BigInt(Math.max(...file.metas.map((meta) => meta?.transaction ?? 0)));
}

const DAMAGE = /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|PANIC|BAD_TXN)/;

/** Errors of LMDB that mean damage, as such; all others unchanged. */
export function typed(folder: string, error: unknown): unknown {
  if (error instanceof Error && DAMAGE.test(error.message)) {
    return new StoreCorruptError(folder, error.message, error);
  }
  return error;
}
