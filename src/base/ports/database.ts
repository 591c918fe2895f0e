/**
 * A relational store: PostgreSQL, or the same engine inside this process. Both run the same SQL.
 *
 * Values of 64 bits and `numeric` come as text, `jsonb` as its JSON text: no digit is lost.
 */

export type SqlValue = string | number | bigint | boolean | null | readonly SqlScalar[];
type SqlScalar = string | number | bigint | boolean | null;

export interface Queries {
  /**
   * One statement with its parameters $1, $2 …; rejects with DatabaseError. A server ends a statement
   * whose signal is aborted; another store leaves out one that has not begun.
   */
  query<R extends object>(
    sql: string,
    values?: readonly SqlValue[],
    signal?: AbortSignal,
  ): Promise<R[]>;
  /** Adds rows in the text form of COPY, one line each with its line end, in UTF-8. */
  copy(table: string, columns: readonly string[], rows: Uint8Array): Promise<void>;
}

export interface Database extends Queries {
  readonly engine: 'postgres' | 'pglite';
  /** For questions, whose time is limited; absent where they need connections of their own. */
  readonly reading?: Database;
  /** Statements without parameters, separated by semicolons. */
  exec(sql: string): Promise<void>;
  /**
   * Commits when `work` resolves, and rolls back when it rejects. Statements that `work` begins
   * without waiting are sent at once and run in their order; it must wait for all of them.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /** The right to write, for one process at a time; undefined while another process has it. */
  lock(): Promise<WriterLock | undefined>;
  /**
   * Calls `heard` with each notification on the channel, after the commit that sent it. Rejects where
   * the store gives none, as a standby does.
   */
  listen(channel: string, heard: () => void): Promise<Listener>;
  /** Connections that are busy now. */
  inUse(): number;
  close(): Promise<void>;
}

export interface WriterLock {
  /** True once the connection that held the lock is gone. */
  isLost(): boolean;
  release(): Promise<void>;
}

export interface Listener {
  /** True once the connection is gone that heard the notifications. */
  isLost(): boolean;
  release(): Promise<void>;
}

/** What a caller can do about a failure depends on its kind. */
export type DatabaseFailure =
  /** The server does not answer, or has closed the connection. */
  | 'away'
  /** A statement took longer than the configured time. */
  | 'timeout'
  /** The disk of the store is full. */
  | 'full'
  /** A table is missing: the schema was not created. */
  | 'unmigrated'
  /** The role of the connection lacks a right. */
  | 'denied'
  /** The store cannot hold these values. */
  | 'unstorable'
  | 'other';

export class DatabaseError extends Error {
  override name = 'DatabaseError';
  readonly failure: DatabaseFailure;

  constructor(failure: DatabaseFailure, cause: unknown) {
    super(messageOf(cause), { cause });
    this.failure = failure;
  }
}

/** A host with several addresses, as `localhost`, fails with an error for each and no text of its own. */
function messageOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '')
    return [...new Set(cause.errors.map(messageOf))].join(', ');
  return cause instanceof Error ? cause.message : String(cause);
}

/** From the SQLSTATE of an error, or from its system code. */
export function databaseFailure(code: string): DatabaseFailure {
  if (code === '57014') return 'timeout';
  if (code === '53100' || code === 'ENOSPC') return 'full';
  if (code === '42P01') return 'unmigrated';
  if (code === '42501') return 'denied';
  // Values out of range, rows that are there already, and rows that are too long for an index.
  if (/^(22|23|54)/.test(code)) return 'unstorable';
  // Connection exceptions, an unknown role, shutdown, no memory or connections, recovery; a standby,
  // and statements that ended for others or for the recovery of a replica; sockets.
  const isAway =
    /^(08|28|57P|53|25006|40001|40P01|EC|EHOST|ENET|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT|EAI)/.test(
      code,
    );
  return isAway ? 'away' : 'other';
}
