/** The schema on both stores, and that every list of transactions has an index in PGlite, too. */
import t from 'tap';
import { scramSecret } from '../../../src/adapters/database/scram-secret.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { SCOPES } from '../../../src/data-service/api/query-params.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import type { TransactionFilter } from '../../../src/data-service/api/transaction-filter.ts';
import { planPage } from '../../../src/data-service/api/transaction-query.ts';
import { pageStatement } from '../../../src/data-service/api/transaction-sql.ts';
import {
  beginFirstLoad,
  endFirstLoad,
  isBulk,
} from '../../../src/data-service/crawler/first-load.ts';
import { NotContinuous } from '../../../src/data-service/crawler/store-end.ts';
import { migrate, SCHEMA_VERSION } from '../../../src/data-service/schema/migrate.ts';
import { allowReading } from '../../../src/data-service/schema/reader-role.ts';
import { crawl } from '../crawling.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { memoryDatabase, onBothStores, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);

const COLUMNS = `SELECT table_name, column_name, data_type, is_nullable, collation_name
  FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position`;
const INDEXES = `SELECT tablename, indexname, indexdef FROM pg_indexes
  WHERE schemaname = 'public' ORDER BY 1, 2`;

t.test('both stores get the same tables and indexes', { skip: cluster.skip }, async (t) => {
  const catalogue = async (db: Database) => {
    t.teardown(() => db.close());
    t.equal(await migrate(db, { indexText: true }), 0);
    const again = await migrate(db, { indexText: true });
    t.equal(again, SCHEMA_VERSION, 'a second time changes nothing');
    return [await db.query(COLUMNS), await db.query(INDEXES)];
  };
  const server = cluster.open(await cluster.createDatabase());
  t.strictSame(await catalogue(server), await catalogue(await memoryDatabase()));
});

t.test('a database of schema 1 gets the indexes of this release', async (t) => {
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const indexes = await db.query(INDEXES);
  await db.exec(`
    DROP INDEX tx_addresses_role; DROP INDEX txs_message_parts;
    CREATE UNIQUE INDEX tx_addresses_key ON tx_addresses (address, seq, role);
    UPDATE meta SET value = '1' WHERE key = 'schema_version'`);
  t.equal(await migrate(db, { indexText: true }), 1);
  t.strictSame(await db.query(INDEXES), indexes);
});

t.test('a database of schema 3 learns who sponsors calls of contracts', async (t) => {
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const call = { id: 'call', feeAssetId: 'gold' };
  await db.exec(`
    INSERT INTO blocks VALUES (7, 'b', 'a', 1, 0, 'miner', 1, '', '{}', '{}', 1, 0, 2, 1);
    INSERT INTO assets VALUES ('gold', 1, 'sponsor', '', '', 1, 1, 0, true, true),
      ('silver', 2, 'another', '', '', 1, 1, 0, true, true);
    INSERT INTO txs VALUES
      (1, 'one', 105, 1, 7, 0, 'miner', '', '', 0, NULL, NULL, NULL, NULL, '${JSON.stringify({ tx: call })}'),
      (2, 'two', 105, 1, 7, 0, 'miner', '', '', 0, NULL, NULL, NULL, NULL, '{"tx":{"id":"other"}}');
    UPDATE meta SET value = '3' WHERE key = 'schema_version'`);
  t.equal(await migrate(db, { indexText: true }), 3);
  t.strictSame(await db.query('SELECT address, since_height FROM balance_dirty'), [
    { address: 'sponsor', since_height: 7 },
  ]);
  t.strictSame(await db.query('SELECT fee_asset_id FROM txs ORDER BY seq'), [
    { fee_asset_id: 'gold' },
    { fee_asset_id: null },
  ]);
});

t.test('a database of schema 4 learns the words of contracts', async (t) => {
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const indexes = await db.query(INDEXES);
  const created = { type: 103, contractName: 'golden', image: 'registry/golden' };
  const bodies = [{ tx: created }, { tx: { type: 107, image: 'silver' } }, { tx: { type: 104 } }];
  const rows = bodies.map(
    (body, i) =>
      `(${i}, 'id${i}', 105, 1, 7, 0, 'miner', '', '', 0, 'gold', NULL, NULL, NULL, '${JSON.stringify(body)}')`,
  );
  await db.exec(`
    INSERT INTO txs VALUES ${rows};
    INSERT INTO assets VALUES ('gold', 1, 'sponsor', '', '', 1, 1, 0, true, true);
    DROP INDEX txs_of_contract; DROP INDEX txs_carried; DROP INDEX permission_ops_time;
    CREATE INDEX txs_contract ON txs ((body->>'contractId'), seq) WHERE body ? 'contractId';
    UPDATE meta SET value = '4' WHERE key = 'schema_version'`);
  t.equal(await migrate(db, { indexText: true }), 4);
  t.strictSame(await db.query(INDEXES), indexes);
  t.strictSame(await db.query('SELECT message FROM txs ORDER BY seq'), [
    { message: 'golden registry/golden' },
    { message: 'silver' },
    { message: null },
  ]);
  t.strictSame(await db.query('SELECT * FROM balance_dirty'), [], 'it knows the sponsors');
});

t.test('a role that may only read', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const owner = cluster.open(url);
  t.teardown(() => owner.close());
  await migrate(owner, { indexText: true });
  const name = 'the "reader"';
  const role = async () => {
    const rows = await owner.query(
      'SELECT rolsuper, rolcanlogin, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = $1',
      [name],
    );
    return rows[0];
  };
  await allowReading(owner, { name });
  const plain = { rolsuper: false, rolcanlogin: true, rolcreaterole: false, rolcreatedb: false };
  t.strictSame(await role(), plain);
  const password = async () =>
    (await owner.query('SELECT rolpassword AS is FROM pg_authid WHERE rolname = $1', [name]))[0];
  t.strictSame(await password(), { is: null });
  const secret = scramSecret('a password');
  await allowReading(owner, { name, secret });
  t.strictSame(await password(), { is: secret }, 'a role that exists gets the password');
  await owner.exec('CREATE TABLE later (n integer)');
  const reader = cluster.open(url.replace(/\/\/\w+@/, `//${encodeURIComponent(name)}@`));
  t.teardown(() => reader.close());
  t.strictSame(await reader.query('SELECT height FROM blocks'), []);
  t.strictSame(await reader.query('SELECT n FROM later'), []);
  await t.rejects(reader.query('DELETE FROM blocks'), /permission denied/);
  await t.rejects(reader.query('CREATE TABLE mine (n integer)'), /permission denied/);
});

t.test('the crawler makes that role with its tables', { skip: cluster.skip }, async (t) => {
  const chain = madeChain({ seed: 'reader', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const owner = cluster.open(url);
  t.teardown(() => owner.close());
  const name = 'reader_of_a_crawl';
  const { state } = crawl(t, owner, [node.url], { reader: { name } });
  while (state.height < 4) await new Promise((resolve) => setTimeout(resolve, 20));
  const reader = cluster.open(url.replace(/\/\/\w+@/, `//${name}@`));
  t.teardown(() => reader.close());
  t.strictSame(await reader.query('SELECT max(height) AS top FROM blocks'), [{ top: 4 }]);
});

t.test('a failure leaves no transaction open', async (t) => {
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await t.rejects(db.exec('BEGIN; SELECT 1/0; COMMIT'), /division by zero/);
  t.strictSame(await db.query('SELECT 1 AS one'), [{ one: 1 }]);
});

await onBothStores(t, 'indexes are there before those that they replace go', async (t, open) => {
  const db = await open();
  await db.exec(`UPDATE meta SET value = '1' WHERE key = 'schema_version';
    DROP INDEX tx_addresses_role;
    CREATE INDEX tx_addresses_key ON tx_addresses (address, seq)`);
  const statements: string[] = [];
  const exec = (sql: string): Promise<void> => {
    statements.push(sql);
    return db.exec(sql);
  };
  t.equal(await migrate({ ...db, exec }, { indexText: true }), 1);
  const made = statements.findIndex((sql) => /CREATE UNIQUE INDEX.* tx_addresses_role/.test(sql));
  const gone = statements.findIndex((sql) => sql.includes('DROP INDEX IF EXISTS tx_addresses_key'));
  t.ok(made !== -1 && made < gone);
  t.notMatch(statements[gone], /CREATE/, 'no index is built while others are locked');
  if (db.engine === 'postgres') t.match(statements[made], /CONCURRENTLY/);
  t.equal(await migrate(db, { indexText: true }), SCHEMA_VERSION);
});

await onBothStores(t, 'the end of a first load, beside a successor', async (t, open) => {
  const db = await open();
  await beginFirstLoad(db, { indexText: true });
  let left = 3;
  const assertLocked = (): void => {
    if (left-- === 0) throw new Error('the lock is lost');
  };
  const end = (building: (name: string) => void, locked = (): void => {}) =>
    endFirstLoad(db, { indexText: true }, building, locked);
  await t.rejects(
    end(() => {}, assertLocked),
    /the lock is lost/,
  );
  let dropping: Promise<void> | undefined;
  const dropped = end((name) => {
    if (name === 'txs_type') dropping = db.exec('DROP INDEX blocks_signature');
  });
  await t.rejects(dropped, NotContinuous);
  await dropping;
  t.equal(await isBulk(db), true);
  await end(() => {});
  t.equal(await isBulk(db), false);
});

/** Every kind of filter, with values of the chain. */
function filters(address: string, asset: string, id: string): Partial<TransactionFilter>[] {
  const texts = ['invoice', '55', 'name-9-3', address, id, asset, 'key 7'];
  const searches = SCOPES.flatMap((scope) =>
    texts.map((search) => ({ search, scope: [scope] as const })),
  );
  return [
    {},
    { index: 50 },
    { type: [4] },
    { type: [3, 10] },
    { assetId: asset },
    { assetId: 'NATIVE', type: [4], amountFrom: 5n, amountTo: 50n },
    { assetId: 'NATIVE', type: [4], amount: 5n },
    { dateFrom: 0, dateTo: 2_000_000_000_000 },
    { sender: address },
    { recipient: address },
    { type: [102], permissions: ['miner'] },
    { heightFrom: 3, heightTo: 9 },
    { contractId: id },
    ...searches,
  ];
}

t.test('no list reads a table from end to end', async (t) => {
  const chain = madeChain({ seed: 'plans', txsPerBlock: 20, accounts: 50 });
  chain.grow(200);
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const crawler = crawl(t, db, [(await madeNode(t, () => chain)).url]);
  await crawler.reached(chain.height(), chain.signature(chain.height()));
  await crawler.stop();
  await db.exec('ANALYZE');
  // Small tables are read whole because that is cheaper. Where this is forbidden, a plan that still
  // does so has no index to use.
  await db.exec('SET enable_seqscan = off');
  const meter = { query: () => () => {}, timedOut: () => {} };
  const services = { db: () => db, meter } as unknown as DataServices;
  const [tx] = await db.query<{ sender: string; id: string; asset: string }>(
    `SELECT sender, id, (SELECT asset_id FROM assets LIMIT 1) AS asset FROM txs WHERE type = 4 LIMIT 1`,
  );
  for (const filter of filters(tx!.sender, tx!.asset, tx!.id)) {
    for (const sort of ['desc', 'asc'] as const) {
      const whole = { limit: 100, sort, extended: false, ...filter } as TransactionFilter;
      const query = await planPage(whole, 4000, services);
      if (query.sources.length === 0) continue;
      const { sql, values } = pageStatement(query, 2 ** 20);
      const lines = await db.query<Record<string, string>>(`EXPLAIN ${sql}`, values);
      const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
      t.notMatch(
        plan,
        /Seq Scan/,
        JSON.stringify(filter, (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
      );
    }
  }
});
