/** Dates find every transaction, however far its time is from that of its block; on both stores. */
import t, { type Test } from 'tap';
import type { Database } from '../../../../src/base/ports/database.ts';
import { rollBack } from '../../../../src/data-service/crawler/remove-blocks.ts';
import { migrate } from '../../../../src/data-service/schema/migrate.ts';
import { type MadeChain, madeChain } from '../../made-chain.ts';
import { madeNode } from '../../made-node.ts';
import { type Served, served } from '../../served.ts';
import { migratedDatabase, postgresCluster } from '../../stores.ts';

const cluster = await postgresCluster(t);
const HOUR = 3_600_000;

const made = madeChain({ seed: 'dates', txsPerBlock: 2, accounts: 10 });
made.grow(39);

/** The network pauses twice, for longer than a transaction may differ from its block otherwise. */
const pauseBefore = (height: number): number =>
  height >= 21 ? 60 * HOUR : height >= 10 ? 15 * HOUR : 0;

const timeOf = (height: number): number =>
  Number(made.block(height)?.['timestamp']) + pauseBefore(height);
const sent = (id: string, height: number, timestamp: number) => ({
  id,
  type: 10,
  version: 2,
  alias: id.toLowerCase(),
  sender: `3M${id}`,
  fee: 5,
  proofs: [],
  height,
  timestamp,
});
const own: Readonly<Record<number, readonly Record<string, unknown>[]>> = {
  10: [sent('SentDuringThePause', 10, timeOf(9) + 60_000)],
  // The node compares with the block before, and its transactions may be days old.
  15: [sent('O1d', 15, timeOf(15) - 20 * HOUR)],
  25: [sent('Ahead', 25, timeOf(25) + 30 * HOUR)],
};

const chain: MadeChain = {
  ...made,
  block(height) {
    const block = made.block(height);
    if (block === undefined) return undefined;
    const moved = (block['transactions'] as { timestamp: number }[]).map((tx) => ({
      ...tx,
      timestamp: tx.timestamp + pauseBefore(height),
    }));
    const transactions = [...moved, ...(own[height] ?? [])];
    return { ...block, timestamp: timeOf(height), transactions };
  },
};

async function check(t: Test, db: Database, { get }: Served) {
  const days = Array.from({ length: 6 }, (_, i) => `2020-09-${12 + i}`);
  for (const [i, from] of days.entries()) {
    for (const to of days.slice(i, i + 2)) {
      const dates = `dateFrom=${from}&dateTo=${to}`;
      const [first, last] = [Date.parse(from), Date.parse(to) + 24 * HOUR - 1];
      for (const type of [undefined, 10]) {
        const ofType = type === undefined ? '' : `AND type = ${type}`;
        const stored = await db.query<{ id: string }>(
          `SELECT id FROM txs WHERE ts BETWEEN ${first} AND ${last} ${ofType} ORDER BY seq`,
        );
        const asked = `${dates}${type === undefined ? '' : `&type=${type}`}`;
        const { json } = await get(`/transactions?sort=asc&${asked}`);
        t.strictSame(
          json && (json as { id: string }[]).map(({ id }) => id),
          stored.map(({ id }) => id),
        );
        const counted = await get(`/transactions/count?${asked}`);
        t.strictSame(counted.json, { count: String(stored.length) }, asked);
      }
      const users = await db.query<{ address: string }>(
        `SELECT address FROM users WHERE registered_ts BETWEEN ${first} AND ${last} ORDER BY ordinal`,
      );
      const { json } = await get(`/users?sort=asc&${dates}`);
      t.strictSame(
        (json as { address: string }[]).map(({ address }) => address),
        users.map(({ address }) => address),
      );
    }
  }
}

const SPANS = 'SELECT * FROM block_spans ORDER BY height';

async function start(t: Test, db: Database, open: () => Promise<Database>): Promise<void> {
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, open);
  await service.reached(chain.height());
  await check(t, db, service);
  const heights = (await db.query<{ height: number }>(SPANS)).map(({ height }) => height);
  t.strictSame(heights, [10, 15, 25]);
}

t.test('PGlite', async (t) => {
  const db = await migratedDatabase();
  await start(t, db, async () => db);
});

t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const db = cluster.open(url);
  t.teardown(() => db.close());
  await start(t, db, async () => cluster.open(url));
});

t.test('a store of schema 4 learns how far times reach, and a rollback forgets it', async (t) => {
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  const block = (height: number, first: number) =>
    `(${height}, 'b${height}', 'a', 1, ${height * HOUR}, 'm', 1, '', '{}', '{}', 1, 0, 2, ${first})`;
  const tx = (seq: number, height: number, ts: number) =>
    `(${seq}, 'id${seq}', 4, 1, ${height}, ${ts}, 'm', '', '', 0, NULL, NULL, NULL, NULL, '{}')`;
  await db.exec(`
    INSERT INTO blocks VALUES ${[block(10, 1), block(11, 3), block(12, 5)]};
    INSERT INTO txs VALUES ${[
      [tx(1, 10, 8 * HOUR), tx(2, 10, 12 * HOUR)],
      [tx(3, 11, 5 * HOUR), tx(4, 11, 6 * HOUR)],
      [tx(5, 12, 11 * HOUR), tx(6, 12, 15 * HOUR)],
    ]};
    DROP TABLE block_spans; UPDATE meta SET value = '4' WHERE key = 'schema_version'`);
  t.equal(await migrate(db, { indexText: true }), 4);
  const spans = [
    { height: 11, ts_from: String(5 * HOUR), ts_to: String(11 * HOUR) },
    { height: 12, ts_from: String(12 * HOUR), ts_to: String(15 * HOUR) },
  ];
  t.strictSame(await db.query(SPANS), spans);
  await rollBack(db, 11, 0);
  t.strictSame(await db.query(SPANS), spans.slice(0, 1));
});
