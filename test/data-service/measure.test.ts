/** Every metric of the data service moves, as Prometheus reads it. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { servePrometheus } from '../../src/adapters/prometheus.ts';
import type { TlsFiles } from '../../src/base/ports/http.ts';
import { dataMetricTable } from '../../src/data-service/observability.ts';
import { OPTIONS } from './crawling.ts';
import { type MadeChain, madeChain } from './made-chain.ts';
import { madeNode } from './made-node.ts';
import { served } from './served.ts';
import { memoryDatabase, postgresCluster } from './stores.ts';

const cluster = await postgresCluster(t);
const STATEMENT_MS = 300;
const WAIT_MS = 50;
const WAIT_MS_MAX = 60_000;
const NODE_AWAY = 'http://127.0.0.1:1';
const PROGRESS = [
  ...['ds_crawl_failing', 'ds_height', 'ds_node_height', 'ds_lag_blocks'],
  'ds_lag_seconds',
];

t.test('metrics', { skip: cluster.skip }, async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  const plain = madeChain({ seed: 'measured', txsPerBlock: 8, accounts: 20 });
  plain.grow(30);
  const unknown = { id: 'unknownType', type: 998, timestamp: 5, fee: 1, height: 3 };
  const chain: MadeChain = {
    ...plain,
    block(height) {
      const block = plain.block(height);
      return height === 3 && block ? { ...block, transactions: [unknown] } : block;
    },
  };
  const node = await madeNode(t, () => chain);
  const database = await cluster.createDatabase();
  const service = await served(
    t,
    node.url,
    async () => cluster.open(database, { statementMs: STATEMENT_MS }),
    { nodeUrls: [NODE_AWAY, node.url] },
    metrics,
  );
  await service.reached(31);
  chain.reorganise(4, 6);
  await service.reached(33);

  /** Sum over all labels. */
  async function read(): Promise<Map<string, number>> {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const sums = new Map<string, number>();
    for (const [, name = '', value] of text.matchAll(/^(ds_\w+)(?:\{[^}]*\})? (\S+)$/gm)) {
      sums.set(name, (sums.get(name) ?? 0) + Number(value));
    }
    return sums;
  }
  async function moved(name: string): Promise<void> {
    for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_MS) {
      if (((await read()).get(name) ?? 0) > 0) return;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
    t.fail(`${name} stays 0`);
  }

  t.equal((await service.get('/transactions?search=invoice')).status, 200);
  t.equal((await service.get('/transactions?limit=0')).status, 400);
  const owner = cluster.open(database);
  t.teardown(() => owner.close());
  await owner.transaction(async (queries) => {
    await queries.query('LOCK TABLE txs IN ACCESS EXCLUSIVE MODE');
    const late = service.get('/transactions');
    await moved('ds_pool_in_use');
    t.equal((await late).status, 504, 'a query that takes too long');
  });
  await node.close();
  await owner.query(`INSERT INTO balance_dirty VALUES ('address', 1) ON CONFLICT DO NOTHING`);
  await moved('ds_balance_dirty');
  await moved('ds_db_size_bytes');

  const values = await read();
  const expected: Readonly<Record<string, number>> = {
    ds_height: 33,
    ds_node_height: 33,
    ds_reorgs_total: 1,
    ds_reorg_depth_count: 1,
    ds_reorg_depth_sum: 4,
    ds_rollback_seconds_count: 1,
    ds_unknown_tx_total: 1,
    ds_query_timeouts_total: 1,
  };
  for (const [name, value] of Object.entries(expected)) t.equal(values.get(name), value, name);
  t.ok((values.get('ds_blocks_total') ?? 0) >= 37, 'blocks of both branches');
  /** 0 while nothing is behind, and nothing waits. */
  const mayRest = ['ds_lag_blocks', 'ds_lag_seconds', 'ds_fetched_bytes', 'ds_pool_in_use'];
  const ofTls = 'ds_certificate_end_seconds';
  for (const { name, kind } of Object.values(dataMetricTable)) {
    const value = values.get(kind === 'histogram' ? `${name}_count` : name);
    if (name === ofTls) t.equal(value, undefined, 'no certificate, and no end of it');
    else if (mayRest.includes(name)) t.ok(value !== undefined, `${name} is there`);
    else t.ok((value ?? 0) > 0, `${name} is ${value}`);
  }
});

t.test('a database that is away shows', { skip: cluster.skip }, async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  const read = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const becomes = async (failing: number): Promise<void> => {
    while ((await read('ds_crawl_failing')) !== failing)
      await new Promise((next) => setTimeout(next, WAIT_MS));
  };
  const chain = madeChain({ seed: 'away', txsPerBlock: 2, accounts: 5 });
  chain.grow(10);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const { reached } = await served(t, node.url, async () => cluster.open(url), {}, metrics);
  await reached(chain.height());
  await becomes(0);
  t.equal(await read('ds_lag_seconds'), 0);
  await cluster.server!.crash();
  await becomes(1);
  t.equal(await read('ds_crawling'), 1, 'it tries again');
  t.ok((await read('ds_lag_seconds')) > 0, 'the data grow old');
  await cluster.server!.start();
  await becomes(0);
  t.equal(await read('ds_lag_seconds'), 0);
});

t.test('a crawler that has ended knows no lag', async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  const shown = async (): Promise<string[]> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return PROGRESS.filter((name) => new RegExp(`^${name} `, 'm').test(text));
  };
  const crawling = async (): Promise<string | undefined> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^ds_crawling (\d)$/m.exec(text)?.[1];
  };
  const chain = madeChain({ seed: 'ended', txsPerBlock: 2, accounts: 5 });
  chain.grow(30);
  const node = await madeNode(t, () => chain);
  const crawl = { ...OPTIONS, maxRollback: 5 };
  const { service, reached } = await served(t, node.url, memoryDatabase, { crawl }, metrics);
  await reached(chain.height());
  t.strictSame(await shown(), PROGRESS);
  t.equal(await crawling(), '1');
  chain.reorganise(10, 12);
  while (service.state.stopped === undefined)
    await new Promise((next) => setTimeout(next, WAIT_MS));
  t.strictSame(await shown(), ['ds_height']);
  t.equal(await crawling(), '0', 'an alert can tell');
});

t.test('a server beside a crawler knows none either', async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  await served(t, NODE_AWAY, memoryDatabase, { crawl: undefined }, metrics);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (const name of [...PROGRESS, 'ds_crawling']) t.notMatch(text, new RegExp(`^${name} `, 'm'));
});

t.test('when the certificate ends; nothing where HTTP is plain', async (t) => {
  const shown = async (tls: TlsFiles | undefined): Promise<string | undefined> => {
    const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
    t.teardown(close);
    const listen = { host: '127.0.0.1', port: 0, cors: false, tls };
    await served(t, NODE_AWAY, memoryDatabase, { crawl: undefined, listen }, metrics);
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^ds_certificate_end_seconds (\S+)$/m.exec(text)?.[1];
  };
  const own = (name: string): string =>
    fileURLToPath(new URL(`../adapters/http/tls/test-only-${name}.pem`, import.meta.url));
  const cert = own('cert');
  const { validTo } = new X509Certificate(readFileSync(cert));
  t.equal(Number(await shown({ cert, key: own('key') })), Date.parse(validTo) / 1000);
  t.equal(await shown(undefined), undefined);
});
