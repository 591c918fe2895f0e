/**
 * One LMDB environment with a sub-database for each table, as the store and its writing thread open
 * it: both have the same file mapped, so they must agree on every option.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb';

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

/** The file on disk is not what a store wrote. */
export class StoreCorruptError extends Error {
  override name = 'StoreCorruptError';

  constructor(folder: string, why: string, cause?: unknown) {
    super(`the store in ${folder} is damaged: ${why}`, { cause });
  }
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
    maxDbs: options.tables.length + 1,
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

// Offsets in a page: the head of a meta page as LMDB 1.0 lays it out, little-endian.
const META_BYTES = 160;
const MAGIC = 0xbeefc0de;
const AT_MAGIC = 24;
const AT_PAGE_SIZE = 48;
const AT_FREE_ROOT = 88;
const AT_MAIN_ROOT = 136;
const AT_LAST_PAGE = 144;
const AT_TRANSACTION = 152;
const NO_ROOT = 2n ** 64n - 1n;

/**
 * LMDB maps the file and trusts it: pages missing at its end would kill the process on access. So
 * the roots must lie within the file, and a short file is filled up with empty pages, which LMDB
 * reports as damage when it meets one. (A file may rightly end early, where the last pages are free.)
 */
export function checkFile(folder: string): void {
  const file = dataFile(folder);
  if (!existsSync(file)) return;
  const size = statSync(file).size;
  if (size === 0) return;
  const descriptor = openSync(file, 'r+');
  try {
    const first = readMeta(descriptor, 0);
    if (first === undefined) throw new StoreCorruptError(folder, 'it does not begin as one');
    const pageBytes = first.getUint32(AT_PAGE_SIZE, true);
    const second = readMeta(descriptor, pageBytes);
    if (second === undefined) throw new StoreCorruptError(folder, 'the second header is missing');
    const newer =
      second.getBigUint64(AT_TRANSACTION, true) > first.getBigUint64(AT_TRANSACTION, true);
    const meta = newer ? second : first;
    for (const at of [AT_FREE_ROOT, AT_MAIN_ROOT]) {
      const page = meta.getBigUint64(at, true);
      if (page !== NO_ROOT && (Number(page) + 1) * pageBytes > size) {
        throw new StoreCorruptError(folder, 'the file is cut short');
      }
    }
    const full = (Number(meta.getBigUint64(AT_LAST_PAGE, true)) + 1) * pageBytes;
    if (full > size) ftruncateSync(descriptor, full);
  } finally {
    closeSync(descriptor);
  }
}

function readMeta(descriptor: number, at: number): DataView | undefined {
  const bytes = new Uint8Array(META_BYTES);
  if (readSync(descriptor, bytes, 0, META_BYTES, at) < META_BYTES) return undefined;
  const meta = new DataView(bytes.buffer);
  return meta.getUint32(AT_MAGIC, true) === MAGIC ? meta : undefined;
}

/** Number of the latest transaction in a file that another process may have open; 0n for none. */
export function latestTransaction(folder: string): bigint {
  const file = dataFile(folder);
  if (!existsSync(file)) return 0n;
  const descriptor = openSync(file, 'r');
  try {
    const first = readMeta(descriptor, 0);
    const second = first && readMeta(descriptor, first.getUint32(AT_PAGE_SIZE, true));
    const numbers = [first, second].map((meta) => meta?.getBigUint64(AT_TRANSACTION, true) ?? 0n);
    return numbers.reduce((a, b) => (a > b ? a : b));
  } finally {
    closeSync(descriptor);
  }
}

/** LMDB synchronises its file; the folder must remember that the file exists. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

const DAMAGE = /MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID|VERSION_MISMATCH|PANIC|BAD_TXN)/;

/** Errors of LMDB that mean damage, as such; all others unchanged. */
export function typed(folder: string, error: unknown): unknown {
  if (error instanceof Error && DAMAGE.test(error.message)) {
    return new StoreCorruptError(folder, error.message, error);
  }
  return error;
}
