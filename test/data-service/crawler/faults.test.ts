/** What a crawler does when something around it fails. */
import pg from 'pg';
import t, { type Test } from 'tap';
import { SUPERUSER } from '../../../bench/denominators/postgres-server.ts';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { AlreadyCrawled } from '../../../src/data-service/crawler/crawler.ts';
import { DeepReorganisation } from '../../../src/data-service/crawler/find-ancestor.ts';
import { OtherNetwork } from '../../../src/data-service/crawler/network.ts';
import { NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { verifyBlocks } from '../../../src/data-service/crawler/verify/verify-blocks.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { memoryDatabase, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);
const SCHEMA = { indexText: true };

async function store(t: Parameters<typeof crawl>[0]) {
  // A new database of a server takes a tenth of the time of one inside the process.
  const db =
    cluster.skip === false ? cluster.open(await cluster.createDatabase()) : await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  return db;
}

const grown = (seed: string, blocks = 30): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 8, accounts: 20 });
  chain.grow(blocks);
  return chain;
};

t.test('a node that goes away and comes back', async (t) => {
  const chain = grown('away');
  const db = await store(t);
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(31, chain.signature(31));
  await node.close();
  chain.grow(5);
  while (crawler.state.lastError === undefined) await later(20);
  t.ok(crawler.log.of('crawl.failed').every(({ kind }) => kind === 'node'));
  const port = Number(new URL(node.url).port);
  await madeNode(t, () => chain, { port });
  await crawler.reached(36, chain.signature(36));
  t.equal(crawler.state.lastError, undefined);
});

t.test('the next node of the list serves where the first one does not', async (t) => {
  const chain = grown('second');
  const db = await store(t);
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, ['http://127.0.0.1:1', node.url]);
  await crawler.reached(31, chain.signature(31));
  t.ok(crawler.state.nodeErrors > 0);
});

t.test('a node of another network is refused, and nothing is removed', async (t) => {
  const db = await store(t);
  const one = grown('one network');
  const first = crawl(t, db, [(await madeNode(t, () => one)).url]);
  await first.reached(31, one.signature(31));
  await first.stop();
  const other = grown('another network');
  const second = crawl(t, db, [(await madeNode(t, () => other)).url]);
  await t.rejects(second.ended, OtherNetwork);
  const rows = await db.query<{ n: string }>('SELECT count(*) AS n FROM blocks');
  t.equal(rows[0]?.n, '31');
});

/** A node that gives no answer while it is told so. */
async function failing(t: Test, chain: MadeChain) {
  const down = { status: 502, type: 'application/json', body: '{}' };
  const is = { down: false };
  const node = await madeNode(t, () => chain, { instead: () => (is.down ? down : undefined) });
  return { url: node.url, is };
}

t.test('the node of the network is away, and one of another network answers', async (t) => {
  const db = await store(t);
  const chain = grown('right network');
  const { url, is } = await failing(t, chain);
  const wrong = await madeNode(t, () => grown('wrong network', 50));
  const crawler = crawl(t, db, [url, wrong.url]);
  await crawler.reached(31, chain.signature(31));
  is.down = true;
  while (crawler.log.of('crawl.failed').length < 2) await later(20);
  t.ok(crawler.log.of('crawl.failed').every(({ kind }) => kind === 'node'));
  is.down = false;
  chain.grow(5);
  await crawler.reached(36, chain.signature(36));
});

t.test('the node of the chain is away, and one of another branch answers', async (t) => {
  for (const blocks of [45, 30]) {
    const db = await store(t);
    const chain = grown('right branch', 60);
    const { url, is } = await failing(t, chain);
    const branch = grown('right branch', 60);
    branch.reorganise(40, blocks);
    const options = { maxRollback: blocks > 40 ? 20 : 50 };
    const crawler = crawl(t, db, [url, (await madeNode(t, () => branch)).url], options);
    await crawler.reached(61, chain.signature(61));
    is.down = true;
    const before = crawler.state.nodeErrors;
    while (crawler.state.nodeErrors < before + 6) await later(20);
    is.down = false;
    chain.grow(10);
    await crawler.reached(71, chain.signature(71));
    t.equal(crawler.state.reorganisations, 0);
    await crawler.stop();
  }
});

t.test('a first load of blocks of which no answer holds ten', async (t) => {
  const db = await store(t);
  const chain = grown('full blocks', 60);
  const tooBig = { status: 413, type: 'application/json', body: '{"error":413,"message":"big"}' };
  const node = await madeNode(t, () => chain, {
    instead(path) {
      const [, from, to] = /^\/blocks\/seqext\/(\d+)\/(\d+)$/.exec(path) ?? [];
      return Number(to) - Number(from) >= 4 ? tooBig : undefined;
    },
  });
  const crawler = crawl(t, db, [node.url], { bulk: true });
  await crawler.reached(61, chain.signature(61));
  t.strictSame(crawler.log.of('crawl.failed'), []);
});

t.test('two crawlers', { skip: cluster.skip }, async (t) => {
  const chain = grown('two');
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const [one, two] = [cluster.open(url), cluster.open(url)];
  t.teardown(() => Promise.all([one.close(), two.close()]));
  await migrate(one, SCHEMA);
  const first = crawl(t, one, [node.url]);
  await first.reached(31, chain.signature(31));
  await t.rejects(crawl(t, two, [node.url]).ended, AlreadyCrawled);
});

t.test('a reorganisation that is too deep waits for the operator', async (t) => {
  const chain = grown('deep', 60);
  const db = await store(t);
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url], { maxRollback: 20 });
  await crawler.reached(61, chain.signature(61));
  await crawler.stop();
  chain.reorganise(40, 45);
  await t.rejects(crawl(t, db, [node.url], { maxRollback: 20 }).ended, DeepReorganisation);
  const rows = await db.query<{ n: string }>('SELECT count(*) AS n FROM blocks');
  t.equal(rows[0]?.n, '61', 'nothing is removed');
  const again = crawl(t, db, [node.url], { maxRollback: 50 });
  await again.reached(chain.height(), chain.signature(chain.height()));
});

t.test('a reorganisation of max-rollback blocks is the deepest that it follows', async (t) => {
  const maxRollback = 37;
  const chain = grown('deepest', 80);
  const db = await store(t);
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url], { maxRollback });
  await crawler.reached(81, chain.signature(81));
  chain.reorganise(maxRollback);
  await crawler.reached(81, chain.signature(81));
  t.equal(crawler.state.reorganisations, 1);
  chain.reorganise(maxRollback + 1);
  await t.rejects(crawler.ended, DeepReorganisation);
});

t.test('a tip that changes between any two requests', async (t) => {
  const chain = grown('moving');
  const db = await store(t);
  let changes = 40;
  const node = await madeNode(t, () => chain, {
    before() {
      if (changes-- > 0) chain.reorganise(1 + (changes % 3), 1 + (changes % 4));
    },
  });
  const crawler = crawl(t, db, [node.url], { batchBlocks: 7 });
  while (changes > 0) await later(20);
  await crawler.reached(chain.height(), chain.signature(chain.height()));
  await crawler.stop();
  const http = undiciClient();
  const clock = systemClock(undefined);
  const reader = new NodeReader({ urls: [node.url] }, { http, clock, failed: () => {} });
  t.strictSame((await verifyBlocks(db, reader, 1)).different, []);
  await http.close();
});

t.test('a database that is restarted', { skip: cluster.skip }, async (t) => {
  const chain = grown('restarted', 50);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const db = cluster.open(url);
  t.teardown(() => db.close());
  await migrate(db, SCHEMA);
  const crawler = crawl(t, db, [node.url], { batchBlocks: 2 });
  const admin = new pg.Client({
    host: cluster.server!.folder,
    user: SUPERUSER,
    database: 'postgres',
  });
  await admin.connect();
  // As a restart does, it ends every connection in the middle of its work.
  for (let times = 0; times < 5; times++) {
    await later(60);
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%data%'`,
    );
  }
  await admin.end();
  await crawler.reached(51, chain.signature(51));
  t.ok(crawler.log.of('crawl.failed').length > 0, 'it was noticed');
});

t.test('odd transactions do not stop it', async (t) => {
  const plain = grown('odd', 3);
  const odd = {
    id: 'oddTransaction',
    type: 998,
    timestamp: 5,
    fee: 10n ** 30n,
    note: 'a\0b \ud800',
    'k\0ey': ['\0'],
    height: 3,
  };
  // An escaped backslash before what looks like an escape.
  const plainText = { ...odd, id: 'pLainText', note: 'a\\u0000 \\ud800', 'k\0ey': undefined };
  const data = [{ key: 'a\0', type: 'string', value: '\0z' }];
  const entry = { id: 'oddData', type: 12, timestamp: 6, fee: 1, sender: 'x', data, height: 3 };
  const chain: MadeChain = {
    ...plain,
    block(height) {
      const block = plain.block(height);
      return height === 3 && block ? { ...block, transactions: [odd, plainText, entry] } : block;
    },
  };
  const db = await store(t);
  const crawler = crawl(t, db, [(await madeNode(t, () => chain)).url]);
  await crawler.reached(4, plain.signature(4));
  t.equal(crawler.state.unknownTxs, 2);
  t.strictSame(
    crawler.log.of('crawl.text-changed').map(({ id }) => id),
    ['oddTransaction', 'oddData'],
  );
  const rows = await db.query(`SELECT key, value FROM data_entries WHERE key = 'a'`);
  t.strictSame(rows, [{ key: 'a', value: 'z' }]);
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
