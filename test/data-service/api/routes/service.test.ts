/** What strangers may read of the service itself: no credentials, and no text of the database. */
import t from 'tap';
import { type Database, DatabaseError } from '../../../../src/base/ports/database.ts';
import { madeChain } from '../../made-chain.ts';
import { madeNode } from '../../made-node.ts';
import { type Served, served } from '../../served.ts';
import { migratedDatabase } from '../../stores.ts';

const grown = () => {
  const chain = madeChain({ seed: 'service', txsPerBlock: 2, accounts: 10 });
  chain.grow(5);
  return chain;
};
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

async function statusOf({ get }: Served): Promise<{ lastError: string | null }> {
  return (await get('/status')).json as { lastError: string | null };
}

t.test('a node with credentials in its address', async (t) => {
  const chain = grown();
  const node = await madeNode(t, () => chain);
  const address = `${node.url.replace('http://', 'http://admin:secret@')}/behind-a-proxy`;
  const service = await served(t, address, migratedDatabase);
  while (((await statusOf(service)).lastError ?? '') === '') await later();
  const { lastError } = await statusOf(service);
  t.match(lastError, `${node.url}: `);
  const logged = ['node.unreachable', 'crawl.failed'].flatMap((name) => service.log.of(name));
  t.match(logged.length > 1 && logged[0], { url: node.url });
  t.notMatch(`${lastError} ${JSON.stringify(logged)}`, /admin|secret|proxy/);
});

t.test('a database that goes away while the status is read', async (t) => {
  const chain = grown();
  const node = await madeNode(t, () => chain);
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  let isAway = false;
  const reading: Database = {
    ...db,
    async query(sql, values, signal) {
      if (isAway && sql.includes('FROM meta WHERE key')) {
        // The tip, which is read first, has it, too.
        if (!sql.includes('FROM blocks')) throw new DatabaseError('away', 'connect ECONNREFUSED');
      }
      return db.query(sql, values, signal);
    },
  };
  const service = await served(t, node.url, async () => ({ ...db, reading }));
  await service.reached(chain.height());
  isAway = true;
  t.match(await service.get('/status'), { status: 503, text: /The database does not answer/ });
});

t.test('tables that cannot be brought up to date', async (t) => {
  const chain = grown();
  const node = await madeNode(t, () => chain);
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  let isBroken = false;
  const broken: Database = {
    ...db,
    async lock() {
      const lock = await db.lock();
      return lock && { ...lock, isLost: () => isBroken, release: () => lock.release() };
    },
    async query(sql, values, signal) {
      if (isBroken && sql.includes('to_regclass')) {
        throw new DatabaseError('other', 'permission denied for schema of-our-bank');
      }
      return db.query(sql, values, signal);
    },
  };
  const service = await served(t, node.url, async () => ({ ...broken, reading: db }));
  await service.reached(chain.height());
  isBroken = true;
  while (service.service.state.stopped === undefined) await later();
  const { text, json } = await service.get('/health/ready');
  t.match(json, {
    reasons: [{ code: 'crawler', message: /cannot be made or brought up to date/ }],
  });
  t.notMatch(text, /permission|bank/);
  t.match(service.log.of('crawl.stopped'), [{ why: /permission denied/ }]);
});
