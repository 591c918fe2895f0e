/** Health and lag of a server beside the crawler, and what `strict-lag` refuses. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { servePrometheus } from '../../../src/adapters/prometheus.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { OPTIONS } from '../crawling.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { memoryDatabase, migratedDatabase, postgresCluster } from '../stores.ts';

/** Longer than readiness takes, and shorter than a query whose server is lost. */
const HUNG_MS = 8000;

const cluster = await postgresCluster(t);

t.test('lag comes and goes', { skip: cluster.skip }, async (t) => {
  const chain = madeChain({ seed: 'lag', txsPerBlock: 3, accounts: 10 });
  chain.grow(20);
  const url = await cluster.createDatabase();
  const open = async () => cluster.open(url);
  const node = await madeNode(t, () => chain);
  const port = Number(new URL(node.url).port);
  const lax = await served(t, node.url, open, { crawl: undefined, maxLag: 10 });
  const strict = await served(t, node.url, open, {
    crawl: undefined,
    maxLag: 10,
    strictLag: true,
  });
  /** Status and reasons of both, and whether they list transactions; the node's height is kept a second. */
  const health = async () => {
    const seen = [];
    for (const server of [lax, strict]) {
      const { status, json } = await server.get('/health/ready');
      const { reasons } = json as { reasons: { code: string }[] };
      const list = await server.get('/transactions?limit=1');
      seen.push([status, reasons.map(({ code }) => code).join(), list.status]);
    }
    return seen;
  };
  async function becomes(expected: unknown[], name: string): Promise<void> {
    let seen: unknown;
    for (let tries = 0; tries < 200; tries++) {
      seen = await health();
      if (JSON.stringify(seen) === JSON.stringify(expected)) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    t.strictSame(seen, expected, name);
    for (const { get } of [lax, strict]) t.equal((await get('/health/live')).status, 200, name);
  }

  await becomes(
    [
      [503, 'store', 503],
      [503, 'store', 503],
    ],
    'no tables yet',
  );
  const first = await served(t, node.url, open);
  await becomes(
    [
      [200, '', 200],
      [200, '', 200],
    ],
    'up to date',
  );
  await first.service.stop();
  chain.grow(10);
  await becomes(
    [
      [200, '', 200],
      [200, '', 200],
    ],
    'as far behind as it may be',
  );
  chain.grow(1);
  await becomes(
    [
      [503, 'lag', 200],
      [503, 'lag', 503],
    ],
    'a block more',
  );
  t.match((await lax.get('/status')).json, { lagBlocks: 11, height: 21, nodeHeight: 32 });
  const second = await served(t, node.url, open);
  await becomes(
    [
      [200, '', 200],
      [200, '', 200],
    ],
    'caught up',
  );
  await node.close();
  await becomes(
    [
      [200, 'node', 200],
      [200, 'node', 200],
    ],
    'the node is away',
  );
  t.match((await lax.get('/status')).json, { nodeHeight: null, lagBlocks: 0 });
  await madeNode(t, () => chain, { port });
  await becomes(
    [
      [200, '', 200],
      [200, '', 200],
    ],
    'the node is back',
  );
  await second.service.stop();
});

t.test('a role that may not read', { skip: cluster.skip }, async (t) => {
  const chain = madeChain({ seed: 'denied', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const owner = cluster.open(url);
  t.teardown(() => owner.close());
  await migrate(owner, { indexText: true });
  await owner.exec('CREATE ROLE may_not_read LOGIN');
  const open = async () => cluster.open(url.replace(/\/\/\w+@/, '//may_not_read@'));
  const { get, log } = await served(t, node.url, open, { crawl: undefined });
  while (log.of('data.store-failed').length === 0)
    await new Promise((next) => setTimeout(next, 20));
  const reasons = [{ code: 'store', message: /does not let this server read/ }];
  t.match(await get('/health/ready'), { status: 503, json: { reasons } });
  t.equal((await get('/transactions?limit=1')).status, 503);
  t.equal((await get('/status')).status, 503);
  t.strictSame(log.of('http.failed'), []);
});

t.test('a database that hangs', { skip: cluster.skip }, async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  const chain = madeChain({ seed: 'database-hangs', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const open = async () => cluster.open(url);
  const { get, reached } = await served(t, node.url, open, {}, metrics);
  await reached(chain.height());
  t.equal((await get('/health/ready')).status, 200);
  const { pid } = cluster.server!;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const signalled = (signal: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const one of [pid, ...children.map(Number)]) process.kill(one, signal);
  };
  const answered = async <T>(asked: Promise<T>): Promise<T | 'late'> => {
    const late = new Promise<'late'>((resolve) => setTimeout(resolve, HUNG_MS, 'late').unref());
    return Promise.race([asked, late]);
  };
  signalled('SIGSTOP');
  try {
    const reasons = [{ code: 'store', message: /has not answered for 2 s/ }];
    const probes = await Promise.all([1, 2, 3].map(() => answered(get('/health/ready'))));
    const json = { reasons, height: null, lagBlocks: null };
    for (const probe of probes) t.match(probe, { status: 503, json });
    t.match(await answered(get('/health/live')), { status: 200 });
    t.match(await answered(fetch(`http://127.0.0.1:${port}/metrics`)), { status: 200 });
  } finally {
    signalled('SIGCONT');
  }
  while ((await get('/health/ready')).status !== 200)
    await new Promise((next) => setTimeout(next, 50));
});

t.test('nothing was crawled yet', async (t) => {
  const chain = madeChain({ seed: 'empty', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const port = Number(new URL(node.url).port);
  await node.close();
  const { get, opened, reached, service } = await served(t, node.url, memoryDatabase);
  await opened();
  t.strictSame((await get('/blocks')).json, [], 'the store is open');
  t.match(await get('/health/ready'), {
    status: 503,
    json: { status: 'not ready', reasons: [{ code: 'empty' }, { code: 'node' }], height: 0 },
  });
  t.equal((await get('/health/live')).status, 200);
  await madeNode(t, () => chain, { port });
  await reached(chain.height());
  t.match(await get('/health/ready'), { status: 200, json: { height: chain.height() } });
  await service.stop();
});

t.test('a node that hangs', async (t) => {
  const chain = madeChain({ seed: 'hangs', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  let release = (): void => {};
  let hung: Promise<void> | undefined;
  const node = await madeNode(t, () => chain, {
    delay: (path) => (path === '/blocks/height' ? hung : undefined) ?? Promise.resolve(),
  });
  const service = await served(t, node.url, migratedDatabase);
  await service.reached(chain.height());
  hung = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.teardown(() => release());
  // Its last answer serves for a while.
  for (let reason = ''; reason !== 'node'; ) {
    const { status, json } = await service.get('/health/ready');
    t.equal(status, 200);
    reason = (json as { reasons: { code: string }[] }).reasons[0]?.code ?? '';
  }
  const before = node.requests();
  await service.get('/health/ready');
  await service.get('/status');
  t.ok(node.requests() - before < 2, 'nor does every question ask it');
  release();
});

t.test('a crawler that ends leaves the interface', async (t) => {
  const chain = madeChain({ seed: 'ends', txsPerBlock: 2, accounts: 5 });
  chain.grow(30);
  const node = await madeNode(t, () => chain);
  const { service, get, reached, log } = await served(t, node.url, migratedDatabase, {
    crawl: { ...OPTIONS, maxRollback: 5 },
  });
  await reached(chain.height());
  let isOver = false;
  service.ended.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  const height = chain.height();
  chain.reorganise(10, 12);
  while (service.state.stopped === undefined) await new Promise((next) => setTimeout(next, 20));
  const reasons = [{ code: 'crawler', message: /more than 5 blocks.*max-rollback/ }];
  t.match(await get('/health/ready'), { status: 200, json: { height, reasons } });
  t.match(await get('/status'), { status: 200, json: { height, lastError: /max-rollback/ } });
  t.equal((await get('/transactions?limit=1')).status, 200);
  t.equal(isOver, false);
  t.match(log.of('crawl.stopped'), [{ why: /max-rollback/ }]);
  t.equal(log.of('crawl.stopped').length, 1);
  await service.stop();
  await service.ended;
});
