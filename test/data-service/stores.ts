/** The two stores of the data service, empty, for a test that runs on both. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { Test } from 'tap';
import {
  type PostgresServer,
  SUPERUSER,
  startPostgresServer,
} from '../../bench/denominators/postgres-server.ts';
import { NotInstalledError } from '../../bench/measure/contender.ts';
import { pgliteDatabase } from '../../src/adapters/database/pglite.ts';
import { type PostgresOptions, postgresDatabase } from '../../src/adapters/database/postgres.ts';
import type { Database } from '../../src/base/ports/database.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import { leftOut } from '../left-out.ts';
import type { Scope } from '../system/e2e/process.ts';
import { initialCluster, migratedCluster } from './initial-cluster.ts';
import { initialServer } from './initial-server.ts';

export interface PostgresCluster {
  /** Why there is none, or false. */
  readonly skip: string | false;
  /** The URL of a new, empty database; without a locale it has that of the server. */
  createDatabase(locale?: string): Promise<string>;
  open(url: string, options?: Partial<PostgresOptions>): Database;
  readonly server: PostgresServer | undefined;
}

/** A server of its own, ended with the test; a `kept` folder keeps its databases. */
export async function postgresCluster(scope: Scope, kept?: string): Promise<PostgresCluster> {
  const started = async () => {
    const folder = kept ?? (await initialServer());
    if (kept === undefined) scope.teardown(() => rm(folder, { recursive: true, force: true }));
    return startPostgresServer(undefined, [], folder);
  };
  const server = await started().catch((cause: unknown) => {
    if (cause instanceof NotInstalledError) return cause.message;
    throw cause;
  });
  if (typeof server === 'string') {
    const absent = async (): Promise<never> => {
      throw new Error(server);
    };
    const open = (): never => {
      throw new Error(server);
    };
    return { skip: leftOut(server), createDatabase: absent, open, server: undefined };
  }
  scope.teardown(() => server.stop());
  let made = 0;
  return {
    skip: false,
    server,
    async createDatabase(locale) {
      const name = `data${made++}`;
      const client = new pg.Client({ host: server.folder, user: SUPERUSER, database: 'postgres' });
      await client.connect();
      const own = locale === undefined ? '' : `LOCALE '${locale}'`;
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ${own}`);
      await client.end();
      return `postgres://${SUPERUSER}@/${name}?host=${server.folder}`;
    },
    open: (url, options = {}) => postgresDatabase({ url, poolSize: 5, ...options }),
  };
}

let cluster: Promise<PostgresCluster> | undefined;

/** One check on each of the two stores; `open` gives a new database with all tables each time. */
export async function onBothStores(
  t: Test,
  name: string,
  check: (t: Test, open: () => Promise<Database>) => Promise<void>,
): Promise<void> {
  cluster ??= postgresCluster(t);
  const { skip, open, createDatabase } = await cluster;
  const closed = (t: Test, db: Database): Database => {
    t.teardown(() => db.close());
    return db;
  };
  await t.test(`${name}, PGlite`, (t) => check(t, async () => closed(t, await migratedDatabase())));
  await t.test(`${name}, PostgreSQL`, { skip }, (t) =>
    check(t, async () => {
      const db = closed(t, open(await createDatabase()));
      await migrate(db, { indexText: true });
      return db;
    }),
  );
}

export const memoryDatabase = async (): Promise<Database> =>
  pgliteDatabase(undefined, { initial: await initialCluster() });

/** With all tables of this release. */
export const migratedDatabase = async (): Promise<Database> =>
  pgliteDatabase(undefined, { initial: await migratedCluster() });

/** What a crawl leaves, without what tells how it went. */
const COMPARED: Readonly<Record<string, string>> = {
  blocks: 'height',
  txs: 'seq',
  tx_addresses: 'seq, address, role',
  tx_aliases: 'seq, alias',
  tx_amounts: 'seq, pos',
  tx_proofs: 'seq, proof',
  data_entries: 'seq, position_in_tx',
  assets: 'seq',
  aliases: 'alias',
  users: 'ordinal',
  permission_ops: 'seq, address, role',
  type_counts: 'type',
  block_spans: 'height, ts_from, ts_to',
};

/** A sum of every row of every table, to compare two stores. */
export async function digest(db: Database): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const [table, order] of Object.entries(COMPARED)) {
    const rows = await db.query<{ sum: string | null; n: string }>(
      `SELECT count(*) AS n, md5(string_agg(md5(t::text), '' ORDER BY ${order})) AS sum FROM ${table} t`,
    );
    sums[table] = `${rows[0]?.n} rows ${rows[0]?.sum}`;
  }
  const held = await db.query<{ sum: string }>(
    `SELECT md5(string_agg(address || asset_id || amount, '' ORDER BY address, asset_id)) AS sum FROM balances`,
  );
  sums['balances'] = String(held[0]?.sum);
  return sums;
}
