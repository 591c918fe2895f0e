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
  type WriterLock,
} from '../../base/ports/database.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import { type FolderLock, lockFolder } from '../folder-lock.ts';
import { type PgliteThread, pgliteThread } from './pglite-thread.ts';

export interface PgliteOptions {
  /** Longer queries of `reading` are ended, except in memory; absent: no limit. */
  readonly statementMs?: number | undefined;
  /** Milliseconds that never go back. */
  readonly monotonic?: (() => number) | undefined;
  /** The files of an empty store (tar, of this version), for a store in memory: 3 s less of work. */
  readonly initial?: Blob | undefined;
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
  options: PgliteOptions = {},
): Promise<Database> {
  const store = new PgliteStore(folder, options);
  await store.start();
  const database: Database = {
    engine: 'pglite',
    query: (sql, values) => store.run((own) => queriesOn(own).query(sql, values)),
    copy: (table, columns, rows) => store.run((own) => queriesOn(own).copy(table, columns, rows)),
    exec: (sql) => store.run((own) => executed(own, sql)),
    transaction: (work) => store.run((own) => transaction(own, work)),
    lock: async () => store.lock(),
    listen: (channel, heard) => store.listen(channel, heard),
    inUse: () => store.inUse(),
    close: () => store.stop(),
  };
  const query: Database['query'] = (sql, values, signal) =>
    store.runLimited((own) => queriesOn(own).query(sql, values), signal);
  return { ...database, reading: { ...database, query } };
}

type Work<T> = (thread: PgliteThread) => Promise<T>;

/** Why the store could not be opened, and when it is tried again. */
interface FailedOpening {
  readonly cause: unknown;
  readonly waitMs: number;
  readonly until: number;
}

/** The thread of the store, one after another, and the folder that it holds. */
class PgliteStore {
  private readonly folder: string | undefined;
  private readonly statementMs: number | undefined;
  private readonly monotonic: () => number;
  private readonly initial: Blob | undefined;
  private readonly statements = new Mutex();
  private readonly listening = new Map<string, Set<() => void>>();
  private held: FolderLock | undefined;
  private thread!: PgliteThread;
  private failed: FailedOpening | undefined;
  private used = 0;
  private isLocked = false;
  private isClosed = false;
  private stopped: Promise<void> | undefined;

  constructor(folder: string | undefined, options: PgliteOptions) {
    this.folder = folder;
    this.statementMs = folder === undefined ? undefined : options.statementMs;
    this.monotonic = options.monotonic ?? (() => performance.now());
    this.initial = folder === undefined ? options.initial : undefined;
  }

  async start(): Promise<void> {
    if (this.folder !== undefined) this.held = await lockFolder(this.folder);
    try {
      this.thread = await this.open();
    } catch (cause) {
      this.held?.release();
      throw cause;
    }
  }

  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  private async end(): Promise<void> {
    await this.run((own) => own.call({ kind: 'close' })).catch(() => undefined);
    this.isClosed = true;
    await this.thread.end(new DatabaseError('away', 'the store is closed'));
    this.held?.release();
  }

  /** One piece of work after the other, each on a thread that runs. */
  run<T>(work: Work<T>): Promise<T> {
    this.used++;
    return this.statements.run(async () => {
      try {
        if (this.isClosed) throw new DatabaseError('away', 'the store is closed');
        if (this.folder !== undefined && this.thread.isEnded()) await this.openAgain();
        return await work(this.thread);
      } finally {
        this.used--;
      }
    });
  }

  /** Within the time of a query. */
  runLimited<T>(work: Work<T>, signal?: AbortSignal): Promise<T> {
    return this.run((own) => {
      if (signal?.aborted === true) throw new DatabaseError('timeout', 'the client has gone');
      return limited(own, work(own), this.statementMs);
    });
  }

  /** The lock of the folder keeps other processes out. */
  lock(): WriterLock | undefined {
    if (this.isLocked) return undefined;
    this.isLocked = true;
    const release = async (): Promise<void> => {
      this.isLocked = false;
    };
    return { isLost: () => false, release };
  }

  async listen(channel: string, heard: () => void): Promise<Listener> {
    const all = this.listening.get(channel) ?? new Set();
    this.listening.set(channel, all);
    if (all.size === 0) await this.run((own) => own.call({ kind: 'listen', channel }));
    all.add(heard);
    return { isLost: () => false, release: async () => void all.delete(heard) };
  }

  inUse(): number {
    return this.used;
  }

  private async open(): Promise<PgliteThread> {
    const { initial } = this;
    const folder = this.folder === undefined ? undefined : `${this.folder}/pgdata`;
    const opened = await pgliteThread({ folder, initial }, (channel) => {
      for (const heard of this.listening.get(channel) ?? []) heard();
    });
    for (const channel of this.listening.keys()) await opened.call({ kind: 'listen', channel });
    return opened;
  }

  /** Rejects with the last failure until it is time to try again. */
  private async openAgain(): Promise<void> {
    const { failed, monotonic } = this;
    if (failed !== undefined && monotonic() < failed.until) throw failed.cause;
    try {
      this.thread = await this.open();
      this.failed = undefined;
    } catch (cause) {
      const waitMs = Math.min(AGAIN_MS_MAX, (failed?.waitMs ?? AGAIN_MS / 2) * 2);
      this.failed = { cause, waitMs, until: monotonic() + waitMs };
      throw cause;
    }
  }
}

/** Work that takes longer ends its thread. */
async function limited<T>(
  thread: PgliteThread,
  work: Promise<T>,
  ms: number | undefined,
): Promise<T> {
  if (ms === undefined) return work;
  let ending: Promise<void> | undefined;
  const late = setTimeout(() => {
    ending = thread.end(new DatabaseError('timeout', `the query took more than ${ms} ms`));
  }, ms);
  try {
    return await work;
  } finally {
    clearTimeout(late);
    // Two threads must not have the folder.
    await ending;
  }
}

async function transaction<T>(thread: PgliteThread, work: (queries: Queries) => Promise<T>) {
  await thread.call({ kind: 'exec', sql: 'BEGIN' });
  try {
    const result = await work(queriesOn(thread));
    await thread.call({ kind: 'exec', sql: 'COMMIT' });
    return result;
  } catch (cause) {
    await thread.call({ kind: 'exec', sql: 'ROLLBACK' }).catch(() => undefined);
    throw cause;
  }
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
