/** A server without a crawler, on the store inside its process that is the default (`data serve`). */
import t from 'tap';
import { type Database, DatabaseError } from '../../src/base/ports/database.ts';
import { connectionsOf, openDataStore } from '../../src/cli/commands/data/run-data-service.ts';
import { madeChain } from './made-chain.ts';
import { madeNode } from './made-node.ts';
import { served } from './served.ts';

t.test('data serve on PGlite', async (t) => {
  const chain = madeChain({ seed: 'alone', txsPerBlock: 2, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const config = {
    databaseUrl: `pglite:${t.testdir()}/data`,
    poolSize: 5,
    statementTimeout: { ms: 60_000, text: '1m' },
  };
  t.equal(connectionsOf(config), 1, 'a long query leaves none for another one');
  t.equal(connectionsOf({ ...config, databaseUrl: 'postgres://host/data' }), 5);
  const crawling = await served(t, node.url, (purpose) => openDataStore(config, purpose));
  await crawling.reached(chain.height());
  await crawling.service.stop();

  const unlimited = () => Promise.reject(new DatabaseError('other', 'its time is not limited'));
  const open = async (purpose: 'write' | 'read') => ({
    ...(await openDataStore(config, purpose)),
    query: unlimited,
  });
  const { reached, get } = await served(t, node.url, open, { crawl: undefined });
  await reached(chain.height());
  t.equal((await get('/transactions?limit=1')).status, 200);
  t.match(await get('/health/ready'), { status: 200, json: { height: chain.height() } });
});

t.test('a server says each thing that keeps it from answering, once', async (t) => {
  const query = async (): Promise<never> => {
    const failure = asked++ < 3 ? 'away' : 'unmigrated';
    throw new DatabaseError(failure, new Error(`it is ${failure}`));
  };
  let asked = 0;
  const store = { engine: 'postgres', query, inUse: () => 0, close: async () => {} } as const;
  const open = async () => store as unknown as Database;
  const { log } = await served(t, 'http://127.0.0.1:1', open, { crawl: undefined });
  while (asked < 6) await new Promise((next) => setTimeout(next, 20));
  t.match(log.of('data.store-failed'), [{ why: /it is away/ }, { why: /no tables/ }]);
  t.equal(log.of('data.store-failed').length, 2);
});
