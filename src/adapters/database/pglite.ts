/**
 * The database port on PGlite: PostgreSQL compiled to WebAssembly, inside this process, with its
 * files in a folder. There is one connection, so statements wait for each other.
 */
import { PGlite, type PGliteInterface, type Transaction } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import {
  type Database,
  DatabaseError,
  databaseFailure,
  type Queries,
  type SqlValue,
} from '../../base/database.ts';
import { lockFolder } from '../folder-lock.ts';
import { makeFolder } from '../folders.ts';

const asText = (text: string): string => text;
const INT8 = 20;
const NUMERIC = 1700;
const JSONB = 3802;
const parsers = { [INT8]: asText, [NUMERIC]: asText, [JSONB]: asText };

/**
 * Without a folder it is in memory. Rejects with StoreLockedError where another process has the
 * folder open.
 */
export async function pgliteDatabase(folder: string | undefined): Promise<Database> {
  if (folder !== undefined) makeFolder(folder);
  const held = folder === undefined ? undefined : await lockFolder(folder);
  const options = { parsers, extensions: { pg_trgm } };
  let db: PGlite;
  try {
    db = await (folder === undefined
      ? PGlite.create(options)
      : PGlite.create(`${folder}/pgdata`, options));
  } catch (cause) {
    held?.release();
    throw failure(cause);
  }
  let used = 0;
  let isLocked = false;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    used++;
    try {
      return await work();
    } catch (cause) {
      throw cause instanceof DatabaseError ? cause : failure(cause);
    } finally {
      used--;
    }
  };

  return {
    engine: 'pglite',
    query: (sql, values) => counted(() => queriesOn(db).query(sql, values)),
    copy: (table, columns, rows) => counted(() => queriesOn(db).copy(table, columns, rows)),
    exec: (sql) => counted(async () => void (await db.exec(sql))),
    transaction: (work) => counted(() => db.transaction((tx) => work(queriesOn(tx)))),
    async lock() {
      // The lock of the folder keeps other processes out.
      if (isLocked) return undefined;
      isLocked = true;
      return {
        isLost: () => false,
        release: async () => {
          isLocked = false;
        },
      };
    },
    async listen(channel, heard) {
      const end = await counted(() => db.listen(channel, heard));
      return { isLost: () => false, release: () => end() };
    },
    inUse: () => used,
    async close() {
      await db.close();
      held?.release();
    },
  };
}

function queriesOn(db: Pick<PGliteInterface, 'query'> | Transaction): Queries {
  return {
    async query<R extends object>(sql: string, values: readonly SqlValue[] = []) {
      const { rows } = await db.query<R>(sql, [...values]);
      return rows;
    },
    async copy(table, columns, rows) {
      if (rows.length === 0) return;
      const blob = new Blob([rows as Uint8Array<ArrayBuffer>]);
      await db.query(`COPY ${table} (${columns.join(', ')}) FROM '/dev/blob'`, [], { blob });
    },
  };
}

function failure(cause: unknown): DatabaseError {
  const { code = '', message = '' } = cause as { code?: string; message?: string };
  const isFull = /No space left|ENOSPC/.test(message);
  return new DatabaseError(isFull ? 'full' : databaseFailure(code), cause);
}
