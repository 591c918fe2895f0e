/** How a service ends: with its store closed, whatever is under way, and once. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { type Database, DatabaseError } from '../../src/base/ports/database.ts';
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

/** A node that takes connections and requests, and never ends an answer. */
async function hungNode(t: Test, begin: string): Promise<{ url: string; asked: Promise<void> }> {
  const asked = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(begin, () => asked.resolve());
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: asked.promise };
}

const BEGUN = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{';

for (const [what, begin] of [
  ['no answer', ''],
  ['half of an answer', BEGUN],
] as const) {
  for (const afterFirstBlock of [false, true]) {
    const of = afterFirstBlock ? 'that has not begun' : 'that crawls';
    t.test(`a stop waits for no node that gives ${what}, of a service ${of}`, async (t) => {
      const { url, asked } = await hungNode(t, begin);
      const { service, log } = await served(t, url, memoryDatabase, { afterFirstBlock });
      await asked;
      await service.stop();
      await service.ended;
      // A limit of time would have ended it, too, and said that the node has failed.
      t.equal(service.state.nodeErrors, 0);
      t.strictSame(log.of('crawl.failed'), []);
    });
  }
}

t.test('a client that is closed waits for no answer', async (t) => {
  const { url, asked } = await hungNode(t, '');
  const client = undiciClient();
  const ended = t.rejects(client.request({ method: 'GET', url }), { code: 'UND_ERR_DESTROYED' });
  await asked;
  await client.close();
  await ended;
});
