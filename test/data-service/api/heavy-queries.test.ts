/** Queries that take long keep neither health, nor short queries, nor other clients waiting. */
import t from 'tap';
import { pgliteDatabase } from '../../../src/adapters/database/pglite.ts';
import { ipRange } from '../../../src/base/ip-range.ts';
import { createHeavyQueries } from '../../../src/data-service/api/heavy-queries.ts';
import { createSlowClients } from '../../../src/data-service/api/slow-clients.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';
import { migratedFolder } from '../initial-cluster.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { OPEN_TO_ALL, served } from '../served.ts';
import { slowly } from '../slowly.ts';
import { postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);
const CONNECTIONS = 6;
/** Of three places one is left for other clients. */
const RUNNING = 2;

t.test('on a server', { skip: cluster.skip }, async (t) => {
  const chain = madeChain({ seed: 'heavy', txsPerBlock: 3, accounts: 10 });
  chain.grow(5);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const service = await served(
    t,
    node.url,
    async (purpose) =>
      slowly(cluster.open(url, { poolSize: purpose === 'read' ? CONNECTIONS : 2 })),
    { connections: CONNECTIONS },
  );
  await service.reached(chain.height());
  const watching = cluster.open(url, { poolSize: 1 });
  t.teardown(() => watching.close());
  const running = async (): Promise<number> => {
    const [found] = await watching.query<{ n: string }>(
      `SELECT count(*) AS n FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`,
    );
    return Number(found?.n);
  };
  const becomes = async (count: number, name: string): Promise<void> => {
    for (let tries = 0; tries < 1000 && (await running()) !== count; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    t.equal(await running(), count, name);
  };
  const begin = (path: string, count: number) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = Array.from({ length: count }, () => fetch(service.url + path, { signal }));
    for (const one of asked) one.catch(() => undefined);
    return leaving;
  };

  const heavy = begin('/transactions/count?search=slowly&scope=in_description', 8);
  await becomes(RUNNING, 'a client has two of three places');
  t.equal((await service.get('/transactions?limit=1')).status, 200, 'connections are left');
  t.equal((await service.get('/health/ready')).status, 200);
  t.equal(await running(), RUNNING);
  heavy.abort();
  await becomes(0, 'what nobody waits for is ended');

  const users = begin('/users?search=slowly&scope=in_aliases', 8);
  await becomes(RUNNING, 'as many for aliases');
  t.equal((await service.get('/transactions?limit=1')).status, 200, 'nor do aliases take all');
  t.equal(await running(), RUNNING);
  users.abort();
  await becomes(0, 'they are ended, too');

  const light = begin('/transactions/id/slowly', CONNECTIONS);
  await becomes(CONNECTIONS, 'every connection is busy');
  t.equal((await service.get('/health/ready')).status, 200, 'health has its own connection');
  light.abort();
  await becomes(0, 'short queries are ended as well');
  t.equal((await service.get('/transactions?limit=1')).status, 200);
});

t.test('places are shared among clients', async (t) => {
  const heavy = createHeavyQueries(4);
  const ends: (() => void)[] = [];
  const began: string[] = [];
  const run = (client: string): Promise<void> =>
    heavy.run(client, undefined, async () => {
      began.push(client);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const many = Array.from({ length: 12 }, () => run('a'));
  await new Promise(setImmediate);
  t.strictSame(began, ['a', 'a', 'a'], 'one place waits for another client, who is not known yet');
  const other = run('c');
  await new Promise(setImmediate);
  t.strictSame(began, ['a', 'a', 'a', 'c']);
  for (let i = 0; i < 7; i++) run('a').catch(() => undefined);
  const refused = run('a').catch((cause: unknown) => cause);
  const later = new Promise((resolve) => setImmediate(() => resolve('it waits')));
  t.match(await Promise.race([refused, later]), { entry: 'Overloaded' }, 'its line is bounded');
  const gone = heavy
    .run('d', AbortSignal.abort(), () => Promise.reject(new Error('it has begun')))
    .catch((cause: unknown) => cause);
  while (ends.length > 0 || began.length < 20) {
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate);
  }
  await Promise.all([other, ...many]);
  t.match(await gone, { entry: 'Overloaded' });
});

t.test('a client that has ended the thread of PGlite waits', async (t) => {
  const chain = madeChain({ seed: 'ended', txsPerBlock: 3, accounts: 10 });
  chain.grow(5);
  const node = await madeNode(t, () => chain);
  const folder = await migratedFolder(temporaryFolder(t));
  const service = await served(
    t,
    node.url,
    async () => {
      const db = await pgliteDatabase(folder, { statementMs: 1000 });
      return { ...db, reading: slowly(db.reading!) };
    },
    { access: { ...OPEN_TO_ALL, trustedProxies: [ipRange('127.0.0.1')!] } },
  );
  await service.reached(chain.height());
  const ask = async (client: string, path: string): Promise<number> =>
    (await service.get(path, { 'x-forwarded-for': client })).status;
  const count = (text: string): string => `/transactions/count?search=${text}&scope=in_description`;
  const [one, other] = ['10.0.0.1', '10.0.0.2'];
  t.equal(await ask(one, count('slowly')), 504);
  t.equal(await ask(one, count('slowly')), 429);
  t.equal(await ask(one, count('anything')), 429, 'whatever long question it is');
  t.equal(await ask(one, '/transactions/stream?type=4'), 429);
  t.equal(await ask(one, '/transactions?limit=1'), 200, 'pages are answered');
  t.equal(await ask(other, count('anything')), 200, 'and other clients');
});

t.test('a client waits twice as long each time', async (t) => {
  let now = 0;
  const slow = createSlowClients({ monotonic: () => now });
  /** Milliseconds for which it is refused, to a second. */
  const waits = (): number => {
    const began = now;
    for (; ; now += 1000) {
      try {
        slow.admit('a');
        return now - began;
      } catch {
        slow.admit('b');
      }
    }
  };
  const waited: number[] = [];
  for (let i = 0; i < 10; i++) {
    slow.timedOut('a');
    slow.timedOut('a');
    waited.push(waits() / 1000);
  }
  t.strictSame(waited, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  now += 3_600_000;
  slow.timedOut('a');
  t.equal(waits() / 1000, 30, 'it is forgotten');
});
