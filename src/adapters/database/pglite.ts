/**
 * The database port on PGlite: PostgreSQL compiled to WebAssembly, with its files in a folder. It
 * has one connection, so statements wait for each other.
 *
 * It runs in a thread, since a statement keeps its thread busy to the end. Nothing but the end of
 * the thread stops a statement: a query that takes too long costs the thread, and the next one gets
 * another, whose store recovers as after a crash. Nothing else is under way then.
 */
import {
  type Database,
  DatabaseError,
  type Listener,
  type Queries,
  type SqlValue,
} from '../../base/database.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import { lockFolder } from '../folder-lock.ts';
import { makeFolder } from '../folders.ts';
import { type PgliteThread, pgliteThread } from './pglite-thread.ts';

export interface PgliteOptions {
  /** Longer queries of `reading` are ended, except in memory; absent: no limit. */
  readonly statementMs?: number | undefined;
  /** Milliseconds that never go back. */
  readonly monotonic?: (() => number) | undefined;
}

/** A store that cannot be opened again is not tried with every question. */
const AGAIN_MS = 1000;
const AGAIN_MS_MAX = 30_000;

/**
 * Without a folder it is in memory. Rejects with StoreLockedError where another process has the
 * folder open.
 */
export async function pgliteDatabase(
  folder: string | undefined,
  { statementMs, monotonic = () => performance.now() }: PgliteOptions = {},
): Promise<Database> {
  if (folder !== undefined) makeFolder(folder);
  const held = folder === undefined ? undefined : await lockFolder(folder);
  const data = { folder: folder === undefined ? undefined : `${folder}/pgdata` };
  const listening = new Map<string, Set<() => void>>();
  const open = async (): Promise<PgliteThread> => {
    const opened = await pgliteThread(data, (channel) => {
      for (const heard of listening.get(channel) ?? []) heard();
    });
    for (const channel of listening.keys()) await opened.call({ kind: 'listen', channel });
    return opened;
  };
  let thread: PgliteThread;
  try {
    thread = await open();
  } catch (cause) {
    held?.release();
    throw cause;
  }
  let closedFor:
    | { readonly cause: unknown; readonly waitMs: number; readonly until: number }
    | undefined;
  let used = 0;
  let isLocked = false;
  let isClosed = false;
  const statements = new Mutex();

  /** One piece of work after the other, each on a thread that runs. */
  function turn<T>(work: (own: PgliteThread) => Promise<T>): Promise<T> {
    used++;
    return statements.run(async () => {
      try {
        if (isClosed) throw new DatabaseError('away', 'the store is closed');
        if (folder !== undefined && thread.isEnded()) thread = await reopened();
        return await work(thread);
      } finally {
        used--;
      }
    });
  }

  /** Rejects with the last failure until it is time to try again. */
  async function reopened(): Promise<PgliteThread> {
    if (closedFor !== undefined && monotonic() < closedFor.until) throw closedFor.cause;
    try {
      const opened = await open();
      closedFor = undefined;
      return opened;
    } catch (cause) {
      const waitMs = Math.min(AGAIN_MS_MAX, (closedFor?.waitMs ?? AGAIN_MS / 2) * 2);
      closedFor = { cause, waitMs, until: monotonic() + waitMs };
      throw cause;
    }
  }

  /** Within the time of a query. */
  async function limited<T>(own: PgliteThread, work: Promise<T>): Promise<T> {
    if (statementMs === undefined || folder === undefined) return work;
    let ending: Promise<void> | undefined;
    const late = setTimeout(() => {
      ending = own.end(new DatabaseError('timeout', `the query took more than ${statementMs} ms`));
    }, statementMs);
    try {
      return await work;
    } finally {
      clearTimeout(late);
      // Two threads must not have the folder.
      await ending;
    }
  }

  async function transaction<T>(own: PgliteThread, work: (queries: Queries) => Promise<T>) {
    await own.call({ kind: 'exec', sql: 'BEGIN' });
    try {
      const result = await work(queriesOn(own));
      await own.call({ kind: 'exec', sql: 'COMMIT' });
      return result;
    } catch (cause) {
      await own.call({ kind: 'exec', sql: 'ROLLBACK' }).catch(() => undefined);
      throw cause;
    }
  }

  async function listen(channel: string, heard: () => void): Promise<Listener> {
    const all = listening.get(channel) ?? new Set();
    if (all.size === 0) await turn((own) => own.call({ kind: 'listen', channel }));
    listening.set(channel, all.add(heard));
    return {
      isLost: () => false,
      release: async () => void all.delete(heard),
    };
  }

  const store: Database = {
    engine: 'pglite',
    query: (sql, values) => turn((own) => queriesOn(own).query(sql, values)),
    copy: (table, columns, rows) => turn((own) => queriesOn(own).copy(table, columns, rows)),
    exec: (sql) => turn((own) => executed(own, sql)),
    transaction: (work) => turn((own) => transaction(own, work)),
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
    listen,
    inUse: () => used,
    async close() {
      if (isClosed) return;
      await turn((own) => own.call({ kind: 'close' })).catch(() => undefined);
      isClosed = true;
      await thread.end(new DatabaseError('away', 'the store is closed'));
      held?.release();
    },
  };
  return {
    ...store,
    reading: {
      ...store,
      query: (sql, values, signal) =>
        turn((own) => {
          if (signal?.aborted === true) throw new DatabaseError('timeout', 'the client has gone');
          return limited(own, queriesOn(own).query(sql, values));
        }),
    },
  };
}

/** A failure leaves no transaction open that the statements have begun. */
async function executed(thread: PgliteThread, sql: string): Promise<void> {
  try {
    await thread.call({ kind: 'exec', sql });
  } catch (cause) {
    await thread.call({ kind: 'exec', sql: 'ROLLBACK' }).catch(() => undefined);
    throw cause;
  }
}

const queriesOn = (thread: PgliteThread): Queries => ({
  query: <R extends object>(sql: string, values: readonly SqlValue[] = []) =>
    thread.call({ kind: 'query', sql, values }) as Promise<R[]>,
  async copy(table, columns, rows) {
    if (rows.length === 0) return;
    const sql = `COPY ${table} (${columns.join(', ')}) FROM '/dev/blob'`;
    await thread.call({ kind: 'copy', sql, rows });
  },
});
