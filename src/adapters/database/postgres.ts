/** The database port on a PostgreSQL server (pg). */
import type { Socket } from 'node:net';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import {
  type Database,
  DatabaseError,
  databaseFailure,
  type Queries,
  type SqlValue,
} from '../../base/ports/database.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Longer statements are ended by the server; absent: no limit. */
  readonly statementMs?: number | undefined;
  /** True for connections that may only read. */
  readonly readOnly?: boolean | undefined;
}

const CONNECT_MS = 10_000;
/** A query of which nothing was heard for so long after its limit is lost with its connection. */
const LOST_MS = 5000;
/** A connection that is only held is asked for its server this often. */
const BEAT_MS = 10_000;
const END_MS = 2000;
/** An arbitrary number. The lock of a schema has its OID added. */
const WRITER_LOCK = 7_225_110_481;
/**
 * The lock of the schema that has the tables, or will have them. Earlier releases take the lock of the
 * database, whatever their schema: who shares it excludes them. Without a schema the migration fails,
 * and says why.
 */
const LOCK_SCHEMA = `
  SELECT pg_try_advisory_lock_shared($1::int8) AND pg_try_advisory_lock($1::int8 + coalesce(
    (SELECT relnamespace::int8 FROM pg_class WHERE oid = to_regclass('meta')),
    (SELECT oid::int8 FROM pg_namespace WHERE nspname = current_schema()), -1)) AS held`;
const JSONB = 3802;

/**
 * For many small queries: to compile one or to divide it costs more than to run it, and parallel
 * parts would come in any order. A page looks up the transactions of the rows that it finds: a merge
 * would read all the transactions between them. Pages are on an SSD or in memory.
 */
const READING = [
  'default_transaction_read_only=on',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'enable_mergejoin=off',
  'random_page_cost=1.1',
];
/**
 * Whatever the role or the database is set to: indexes and removals take as long as they take, a batch
 * waits for the one before it and sees then what that has written, and the node may let a block in
 * parts wait.
 */
const WRITING = [
  'statement_timeout=0',
  'lock_timeout=0',
  'idle_in_transaction_session_timeout=0',
  'default_transaction_isolation=read\\ committed',
];
/** The server ends a session, and so its locks, soon after the network has lost its client. */
const KEPT_ALIVE = [
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  'tcp_user_timeout=25000',
];

/** Without a connection: the first query makes one. */
export function postgresDatabase(options: PostgresOptions): Database {
  const access = accessOf(options);
  const connections = new Connections(access, options.poolSize);
  return {
    engine: 'postgres',
    query: <R extends object>(sql: string, values?: readonly SqlValue[], signal?: AbortSignal) =>
      connections.run((client) => {
        const answer = queriesOn(client).query<R>(sql, values);
        return signal === undefined ? answer : endedBy(signal, access, client, answer);
      }, signal),
    copy: (table, columns, rows) =>
      connections.run((client) => queriesOn(client).copy(table, columns, rows)),
    exec: (sql) => connections.run(async (client) => void (await queriesOn(client).query(sql))),
    transaction: (work) =>
      connections.run(async (client) => {
        const queries = queriesOn(client);
        const begun = queries.query('BEGIN');
        const [result] = await Promise.all([work(queries), begun]);
        await queries.query('COMMIT');
        return result;
      }),
    lock: () => lockWriter(access, () => connections.endAll()),
    listen: (channel, heard) => listenTo(access, channel, heard),
    inUse: () => connections.inUse(),
    close: () => connections.close(),
  };
}

function accessOf({ url, statementMs, readOnly }: PostgresOptions): pg.ClientConfig {
  const given = parseIntoClientConfig(url);
  const settings = [
    ...KEPT_ALIVE,
    ...(readOnly === true ? READING : []),
    ...(statementMs === undefined ? WRITING : []),
  ];
  return {
    ...given,
    options: [
      given.options ?? process.env['PGOPTIONS'] ?? '',
      ...settings.map((one) => `-c ${one}`),
    ]
      .join(' ')
      .trim(),
    application_name: 'platform-node data',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: BEAT_MS,
    // Statements are sent without waiting for the answers to those before them.
    pipeline: true,
    types: { getTypeParser: parserOf as pg.CustomTypesConfig['getTypeParser'] },
    ...(statementMs === undefined
      ? {}
      : { statement_timeout: statementMs, query_timeout: statementMs + LOST_MS }),
  };
}

/** Connections to one server, for one piece of work each at a time. */
class Connections {
  private readonly pool: pg.Pool;
  private readonly clients = new Set<pg.PoolClient>();
  private used = 0;

  constructor(access: pg.ClientConfig, max: number) {
    this.pool = new pg.Pool({ ...access, max });
    // The pool replaces a broken idle connection; the next query reports an unreachable server.
    this.pool.on('error', () => {});
    // The same for a connection that breaks between two statements of a transaction.
    this.pool.on('connect', (client) => {
      this.clients.add(client);
      client.on('error', () => {});
    });
    this.pool.on('remove', (client) => void this.clients.delete(client));
  }

  /** The work does not begin where the signal is aborted before there is a connection. */
  async run<T>(work: (client: pg.PoolClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.pool.connect();
    } catch (cause) {
      throw failure(cause, 'away');
    }
    if (signal?.aborted === true) {
      client.release();
      throw gone();
    }
    this.used++;
    let broken: boolean | undefined;
    try {
      return await work(client);
    } catch (cause) {
      // A connection in an unknown state is closed, which rolls its transaction back.
      broken = true;
      throw cause;
    } finally {
      this.used--;
      client.release(broken);
    }
  }

  /** Who has lost the lock writes no more, and a server that is gone ends no statement. */
  endAll(): void {
    for (const client of this.clients) streamOf(client).destroy();
  }

  inUse(): number {
    return this.used;
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/** Asks the server to end the statement; its connection is not used again. */
async function endedBy<T extends object>(
  signal: AbortSignal,
  access: pg.ClientConfig,
  client: pg.PoolClient,
  answer: Promise<T[]>,
): Promise<T[]> {
  let ending: Promise<void> | undefined;
  const end = (): void => {
    ending ??= endStatement(access, client).catch(() => undefined);
  };
  signal.addEventListener('abort', end);
  try {
    return await answer;
  } finally {
    signal.removeEventListener('abort', end);
    await ending;
    // It could reach the next statement of the connection.
    if (ending !== undefined) await answer.then(() => Promise.reject(gone()));
  }
}

const gone = (): DatabaseError => new DatabaseError('timeout', 'the client has gone');

async function endStatement(access: pg.ClientConfig, running: pg.PoolClient): Promise<void> {
  const { processID } = running as unknown as { readonly processID: number };
  const client = new pg.Client(access);
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('SELECT pg_cancel_backend($1)', [processID]);
  } finally {
    await client.end();
  }
}

/**
 * A connection outside the pool, for what the server ends with its connection. It is lost, too, where
 * the server does not answer for a while.
 */
function ownConnection(access: pg.ClientConfig, whenLost = (): void => {}) {
  const client = new pg.Client({ ...access, statement_timeout: 0, query_timeout: BEAT_MS });
  let lost = false;
  let isReleased = false;
  const lose = (): void => {
    if (!lost && !isReleased) whenLost();
    lost = true;
    clearInterval(beats);
  };
  const beats = setInterval(() => void client.query('SELECT').catch(lose), BEAT_MS).unref();
  client.on('error', lose);
  client.on('end', lose);
  const release = (): Promise<void> => {
    isReleased = true;
    return ended(client);
  };
  return { client, held: { isLost: () => lost, release } };
}

const streamOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Without waiting for a server that is gone. */
async function ended(client: pg.Client): Promise<void> {
  const late = setTimeout(() => streamOf(client).destroy(), END_MS);
  try {
    await client.end();
  } finally {
    clearTimeout(late);
  }
}

async function listenTo(access: pg.ClientConfig, channel: string, heard: () => void) {
  const { client, held } = ownConnection(access);
  client.on('notification', heard);
  try {
    await client.connect();
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  } catch (cause) {
    await ended(client).catch(() => undefined);
    throw failure(cause, 'away');
  }
  return held;
}

async function lockWriter(access: pg.ClientConfig, whenLost: () => void) {
  const { client, held } = ownConnection(access, whenLost);
  try {
    await client.connect();
    const { rows } = await client.query<{ held: boolean }>(LOCK_SCHEMA, [WRITER_LOCK]);
    if (rows[0]?.held !== true) {
      await held.release();
      return undefined;
    }
  } catch (cause) {
    await held.release().catch(() => undefined);
    throw failure(cause, 'away');
  }
  return held;
}

function queriesOn(client: pg.ClientBase): Queries {
  return {
    async query<R extends object>(sql: string, values: readonly SqlValue[] = []) {
      try {
        const { rows } = await client.query<R>(sql, values as unknown[]);
        return rows;
      } catch (cause) {
        throw failure(cause);
      }
    },
    async copy(table, columns, rows) {
      if (rows.length === 0) return;
      try {
        await copyIn(client, `COPY ${table} (${columns.join(', ')}) FROM STDIN`, rows);
      } catch (cause) {
        throw failure(cause);
      }
    },
  };
}

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** What the types of pg leave out. */
interface CopyQuery {
  submit: (connection: CopyConnection) => Error | null;
  handleCopyInResponse(): void;
}

/**
 * The rows follow their statement at once, without waiting for the server to ask for them. A server
 * that refuses the statement passes over them.
 */
function copyIn(client: pg.ClientBase, sql: string, rows: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query(sql, [], (cause: Error | undefined) =>
      cause ? reject(cause) : resolve(),
    ) as unknown as Omit<pg.Query, 'submit'> & CopyQuery;
    const submit = query.submit.bind(query);
    query.submit = (connection: CopyConnection) => {
      const refused = submit(connection);
      if (refused !== null) return refused;
      connection.sendCopyFromChunk(Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength));
      connection.endCopyFrom();
      return null;
    };
    query.handleCopyInResponse = () => {};
    client.query(query as unknown as pg.Query);
  });
}

const asText = (text: string): string => text;

function parserOf(oid: number, format?: 'text' | 'binary'): unknown {
  return oid === JSONB ? asText : pg.types.getTypeParser(oid, format as 'text');
}

function failure(cause: unknown, otherwise?: 'away'): DatabaseError {
  const { code, message = '' } = cause as { code?: string; message?: string };
  const isClosed =
    /Connection terminated|not queryable|read timeout|timeout exceeded when trying to connect/.test(
      message,
    );
  const known = code === undefined ? (isClosed ? 'away' : 'other') : databaseFailure(code);
  return new DatabaseError(known === 'other' ? (otherwise ?? known) : known, cause);
}
