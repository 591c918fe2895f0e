/** Sessions at a PostgreSQL server that is set in its own way, or behind a network that forgets. */
import net from 'node:net';
import pg from 'pg';
import t, { type Test } from 'tap';
import { SUPERUSER } from '../../../bench/denominators/postgres-server.ts';
import { databaseFailure } from '../../../src/base/ports/database.ts';
import { NotMigrated } from '../../../src/data-service/crawler/crawler.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { allowReading } from '../../../src/data-service/schema/reader-role.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { postgresCluster } from '../stores.ts';

t.setTimeout(240_000);

const { skip, ...cluster } = await postgresCluster(t);
const SCHEMA = { indexText: true };
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

const grown = (seed: string, blocks = 20): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 3, accounts: 10 });
  chain.grow(blocks);
  return chain;
};

const nameIn = (url: string): string => /\/(\w+)\?/.exec(url)![1]!;

async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({
    host: cluster.server!.folder,
    user: SUPERUSER,
    database: 'postgres',
  });
  await client.connect();
  await client.query(sql);
  await client.end();
}

t.test('failures that pass', async (t) => {
  for (const code of ['25006', '40001', '40P01', '53200', '53300']) {
    t.equal(databaseFailure(code), 'away', code);
  }
  t.equal(databaseFailure('22003'), 'unstorable');
});

t.test('a database that is read-only for a while', { skip }, async (t) => {
  const url = await cluster.createDatabase();
  const owner = cluster.open(url);
  await migrate(owner, SCHEMA);
  await owner.close();
  await asAdmin(`ALTER DATABASE ${nameIn(url)} SET default_transaction_read_only = on`);
  const db = cluster.open(url);
  t.teardown(() => db.close());
  const chain = grown('read-only');
  const node = await madeNode(t, () => chain);
  const reader = { name: 'reader_of_a_standby', password: 'x' };
  const crawler = crawl(t, db, [node.url], { reader });
  while (crawler.log.of('crawl.failed').length < 2) await later();
  t.match(crawler.log.of('crawl.failed')[0], { kind: 'database-away', why: /read-only/ });
  await asAdmin(`ALTER DATABASE ${nameIn(url)} RESET default_transaction_read_only`);
  await asAdmin(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameIn(url)}'`,
  );
  await crawler.reached(21, chain.signature(21));
});

/** It forgets connections: the client of each is told, and the server is not. */
async function forgetfulNetwork(t: Test) {
  const clients = new Set<net.Socket>();
  const kept: net.Socket[] = [];
  let forgotten: net.Socket[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client);
    const store = net.connect(`${cluster.server!.folder}/.s.PGSQL.5432`);
    kept.push(store);
    client.on('data', (bytes) => store.write(bytes));
    store.on('data', (bytes) => void (client.destroyed || client.write(bytes)));
    for (const end of [client, store]) end.on('error', () => {});
    store.on('end', () => client.end());
    client.on('end', () => store.end());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const store of kept) store.destroy();
    for (const client of clients) client.destroy();
    server.close();
  });
  return {
    port: (server.address() as net.AddressInfo).port,
    forgetClients() {
      for (const client of clients) client.resetAndDestroy();
      forgotten = [...kept];
    },
    /** Connections that began since then stay. */
    forgetServers() {
      for (const store of forgotten) store.destroy();
    },
    /** Nothing comes through any more, in either direction. */
    hang() {
      for (const end of [...clients, ...kept]) end.pause().removeAllListeners('data');
    },
  };
}

t.test('a lost session that still has the lock', { skip }, async (t) => {
  const url = await cluster.createDatabase();
  const network = await forgetfulNetwork(t);
  const db = cluster.open(`postgres://${SUPERUSER}@127.0.0.1:${network.port}/${nameIn(url)}`);
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  const chain = grown('forgotten');
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(21, chain.signature(21));
  network.forgetClients();
  while (crawler.state.lastError?.includes('another crawler') !== true) await later();
  chain.grow(5);
  network.forgetServers();
  await crawler.reached(26, chain.signature(26));
});

t.test('a server that is silent is lost', { skip }, async (t) => {
  const url = await cluster.createDatabase();
  const network = await forgetfulNetwork(t);
  const through = `postgres://${SUPERUSER}@127.0.0.1:${network.port}/${nameIn(url)}`;
  const reader = cluster.open(through, { readOnly: true, statementMs: 200 });
  const writer = cluster.open(through);
  t.teardown(() => Promise.all([reader.close(), writer.close()]));
  const lock = await writer.lock();
  await Promise.all([reader.query('SELECT'), writer.query('SELECT')]);
  network.hang();
  const cause = await reader.query('SELECT').catch((failed: unknown) => failed);
  t.match(cause, { failure: 'away' });
  const stuck = writer.query('SELECT').catch((failed: unknown) => failed);
  t.match(await stuck, { failure: 'away' }, 'a statement of the writer ends, too');
  while (lock?.isLost() === false) await later();
  await lock?.release();
});

t.test('limits of the database are none of the crawler', { skip }, async (t) => {
  const url = await cluster.createDatabase();
  const settings = ['statement_timeout = 50', 'lock_timeout = 50'];
  settings.push('idle_in_transaction_session_timeout = 50');
  settings.push("default_transaction_isolation = 'repeatable read'");
  for (const one of settings) await asAdmin(`ALTER DATABASE ${nameIn(url)} SET ${one}`);
  const writer = cluster.open(url);
  t.teardown(() => writer.close());
  await t.resolves(writer.query('SELECT pg_sleep(0.2)'));

  await writer.exec(
    'CREATE TABLE one (n int); INSERT INTO one VALUES (1); CREATE TABLE written ()',
  );
  const locked = 'SELECT n FROM one FOR UPDATE';
  const holds = Promise.withResolvers<void>();
  const first = writer.transaction(async (queries) => {
    await queries.query(locked);
    holds.resolve();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await queries.query('INSERT INTO written DEFAULT VALUES');
  });
  await Promise.race([holds.promise, first]);
  const second = writer.transaction(async (queries) => {
    const [, seen] = await Promise.all([
      queries.query(locked),
      queries.query('SELECT count(*)::int AS n FROM written'),
    ]);
    return seen;
  });
  await t.resolves(first, 'it pauses between two statements');
  t.strictSame(await second, [{ n: 1 }], 'who has waited sees what was written meanwhile');
});

t.test('tables in a schema of their own', { skip }, async (t) => {
  const url = await cluster.createDatabase();
  const owner = cluster.open(url);
  await owner.exec('CREATE SCHEMA own');
  await owner.close();
  const own = `${url}&options=${encodeURIComponent('-c search_path=own')}`;
  const [writer, reader] = [cluster.open(own), cluster.open(own, { readOnly: true })];
  t.teardown(() => Promise.all([writer.close(), reader.close()]));
  await migrate(writer, SCHEMA);
  t.strictSame(await reader.query('SELECT height FROM own.blocks'), []);
  t.strictSame(await reader.query('SELECT height FROM blocks'), []);
  const name = 'reader_of_a_schema';
  await allowReading(writer, { name });
  const reading = cluster.open(own.replace(`${SUPERUSER}@`, `${name}@`), { readOnly: true });
  t.teardown(() => reading.close());
  t.strictSame(await reading.query('SELECT height FROM blocks'), []);
  // What is there already is not changed again, so two processes are not in each other's way.
  const statements: string[] = [];
  const exec = (sql: string): Promise<void> => {
    statements.push(sql);
    return writer.exec(sql);
  };
  await allowReading({ ...writer, exec }, { name });
  t.strictSame(statements, []);
});

t.test('a database of another encoding is refused', { skip }, async (t) => {
  const url = await cluster.createDatabase();
  await asAdmin(
    `CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  const db = cluster.open(url.replace(nameIn(url), 'latin'));
  t.teardown(() => db.close());
  const chain = grown('latin');
  const crawler = crawl(t, db, [(await madeNode(t, () => chain)).url]);
  const cause = await crawler.ended.catch((failed: unknown) => failed);
  t.type(cause, NotMigrated);
  t.match(cause, { message: /encoding LATIN1/ });
});
