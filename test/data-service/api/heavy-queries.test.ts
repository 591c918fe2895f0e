/** Queries that take long keep neither health, nor short queries, nor other clients waiting. */
import t from 'tap';
import type { Database } from '../../../src/base/database.ts';
import { createHeavyQueries } from '../../../src/data-service/api/heavy-queries.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);
const CONNECTIONS = 4;

/** These statements take very long. */
const slowly = (db: Database): Database => ({
  ...db,
  query(sql, values = [], signal) {
    const isSlow = values.includes('%slowly%') || values.includes('slowly');
    return isSlow && !sql.startsWith('EXPLAIN')
      ? db.query('SELECT pg_sleep(600)', [], signal)
      : db.query(sql, values, signal);
  },
});

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
  const until = async (count: number): Promise<void> => {
    while ((await running()) !== count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const begin = (path: string, count: number) => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = Array.from({ length: count }, () => fetch(service.url + path, { signal }));
    for (const one of asked) one.catch(() => undefined);
    return leaving;
  };

  const heavy = begin('/transactions/count?search=slowly&scope=in_description', 8);
  await until(CONNECTIONS / 2);
  t.equal((await service.get('/transactions?limit=1')).status, 200, 'connections are left');
  t.equal((await service.get('/health/ready')).status, 200);
  t.equal(await running(), CONNECTIONS / 2);
  heavy.abort();
  await until(0);
  t.pass('what nobody waits for is ended');

  const light = begin('/transactions/id/slowly', CONNECTIONS);
  await until(CONNECTIONS);
  t.equal((await service.get('/health/ready')).status, 200, 'health has its own connection');
  light.abort();
  await until(0);
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
  const first = run('b');
  const many = Array.from({ length: 12 }, () => run('a'));
  await new Promise(setImmediate);
  t.strictSame(began, ['b', 'a', 'a'], 'one place waits for another client');
  const other = run('c');
  await new Promise(setImmediate);
  t.strictSame(began, ['b', 'a', 'a', 'c']);
  for (let i = 0; i < 6; i++) run('a').catch(() => undefined);
  const refused = await run('a').catch((cause: unknown) => cause);
  t.match(refused, { entry: 'Overloaded' }, 'its line is bounded');
  const gone = heavy
    .run('d', AbortSignal.abort(), () => Promise.reject(new Error('it has begun')))
    .catch((cause: unknown) => cause);
  while (ends.length > 0 || began.length < 20) {
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate);
  }
  await Promise.all([first, other, ...many]);
  t.match(await gone, { entry: 'Overloaded' });
});
