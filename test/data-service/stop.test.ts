/** How a service ends: with its store closed, whatever is under way, and once. */
import t from 'tap';
import { type Database, DatabaseError } from '../../src/base/database.ts';
import { AlreadyCrawled } from '../../src/data-service/crawler/crawler.ts';
import { madeChain } from './made-chain.ts';
import { madeNode } from './made-node.ts';
import { served } from './served.ts';
import { memoryDatabase } from './stores.ts';

const chain = madeChain({ seed: 'stop', txsPerBlock: 1, accounts: 5 });
chain.grow(3);

t.test('a store that is opened during the stop is closed at its end', async (t) => {
  const node = await madeNode(t, () => chain);
  const asked = Promise.withResolvers<void>();
  const mayOpen = Promise.withResolvers<void>();
  let isClosed = false;
  const open = async (): Promise<Database> => {
    asked.resolve();
    await mayOpen.promise;
    const db = await memoryDatabase();
    const close = async (): Promise<void> => {
      await db.close();
      isClosed = true;
    };
    return { ...db, close };
  };
  const { service } = await served(t, node.url, open);
  await asked.promise;
  const stopped = service.stop();
  mayOpen.resolve();
  await stopped;
  t.ok(isClosed);
});

t.test('a crawler that must not write ends the service while no query can be read', async (t) => {
  const node = await madeNode(t, () => chain);
  const { reading, ...db } = await memoryDatabase();
  t.ok(reading);
  const open = async (purpose: 'write' | 'read'): Promise<Database> => {
    if (purpose === 'read') throw new DatabaseError('away', 'no connection for queries');
    return { ...db, lock: async () => undefined };
  };
  const { service } = await served(t, node.url, open);
  await t.rejects(service.ended, new AlreadyCrawled());
});

t.test('a service is started once', async (t) => {
  const node = await madeNode(t, () => chain);
  const { service } = await served(t, node.url, memoryDatabase);
  await t.rejects(service.start(), { name: 'AssertionError' });
});
