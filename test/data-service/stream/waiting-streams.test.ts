/** What a stream waits for: its client, and a store that has ended its query. */
import t from 'tap';
import { type Database, DatabaseError } from '../../../src/base/ports/database.ts';
import { LazyAbort } from '../../../src/concurrency/lazy-abort.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import { createSlowClients } from '../../../src/data-service/api/slow-clients.ts';
import { lastPlace } from '../../../src/data-service/stream/chain-place.ts';
import { streamReader } from '../../../src/data-service/stream/stream-reader.ts';
import type { StreamRequest } from '../../../src/data-service/stream/stream-service.ts';
import { TransactionStreamService } from '../../../src/data-service/stream/transaction-streams.ts';
import { FILLER } from '../../../src/events/event-text.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { makeRows } from '../made-rows.ts';
import { served } from '../served.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';
import { eventClient } from './event-client.ts';
import { idsOf, kept } from './kept-events.ts';

const cluster = await postgresCluster(t);

t.test('a client has its time from the last text on', async (t) => {
  const clock = fakeClock(0);
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  await makeRows(db, 100);
  const slow = createSlowClients(clock);
  const services = { db: () => db, clock, slow } as Partial<DataServices> as DataServices;
  const streams = new TransactionStreamService(
    { readersMax: 1, readersOfClientMax: 1 },
    { services, log: memoryLog() },
  );
  t.teardown(() => streams.stop());
  const request = { filter: {}, filterText: '', client: 'a', lastId: '0' } as StreamRequest;
  const { stream } = await streams.open(request);
  let end = '';
  await clock.advance(3000);
  await new Promise<void>((wrote) => {
    stream.begin({
      write() {
        wrote();
        return false;
      },
      end(text) {
        end = String(text);
      },
    });
  });
  await clock.advance(4000);
  t.equal(end, '');
  await clock.advance(3000);
  t.match(end, /"reason":"slow"/);
});

t.test('no query keeps the beats up', async (t) => {
  const clock = fakeClock(0);
  const memory = await migratedDatabase();
  t.teardown(() => memory.close());
  let isStuck = false;
  const stuck = Promise.withResolvers<never>();
  // At the end nobody may wait for it any more.
  stuck.promise.catch(() => undefined);
  const db: Database = {
    ...memory,
    query: (sql, values) => (isStuck ? stuck.promise : memory.query(sql, values)),
  };
  const slow = createSlowClients(clock);
  const services = { db: () => db, clock, slow } as Partial<DataServices> as DataServices;
  const streams = new TransactionStreamService(
    { readersMax: 1, readersOfClientMax: 1 },
    { services, log: memoryLog() },
  );
  const request = { filter: {}, filterText: '', client: 'a', lastId: '' } as StreamRequest;
  const { stream } = await streams.open(request);
  isStuck = true;
  const texts: string[] = [];
  stream.begin({
    write(text) {
      texts.push(String(text));
      return true;
    },
    end() {},
  });
  for (let second = 0; second < 10; second++) await clock.advance(1000);
  t.ok(texts.length >= 4, `${texts.length} beats in ten seconds`);
  t.ok(texts.every((text) => text === FILLER));
  stuck.reject(new DatabaseError('away', 'the test is over'));
  await streams.stop();
});

t.test('a turn that was ended sends nothing, and its page comes again', async (t) => {
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  await makeRows(db, 100);
  const clock = fakeClock(0);
  const services = { db: () => db, clock } as Partial<DataServices> as DataServices;
  const last = { ...(await lastPlace(services)), isReplica: false };
  const removed = { ...last, removedAt: 1 };
  const request = { filter: {}, filterText: '', client: 'a', lastId: '' } as StreamRequest;
  const from = { seq: 0, removedAt: 0, mark: '' };
  const texts: string[] = [];
  const reader = streamReader(request, from, (text) => texts.push(text), services);
  const pages = new Map();
  for (const end of [last, removed]) {
    const turn = new LazyAbort();
    const advance = reader.advance({ last: end, pages }, turn);
    turn.abort();
    t.equal(await advance.catch(() => 'waits'), 'waits');
    t.strictSame(texts, []);
  }
  t.not(await reader.advance({ last, pages }, new LazyAbort()), 'lost');
  t.match(texts[0], /^event: transaction\nid: 1-0-/);
});

t.test('queries that a replica ends for its recovery', { skip: cluster.skip }, async (t) => {
  const chain = madeChain({ seed: 'ended', txsPerBlock: 8, accounts: 20 });
  chain.grow(20);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  let isEnding = true;
  let ended = 0;
  const recovering = (db: Database): Database => ({
    ...db,
    query(sql, values, signal) {
      if (!isEnding || !sql.includes('FROM txs WHERE seq = page.seq'))
        return db.query(sql, values, signal);
      ended++;
      return db.query(`DO $$ BEGIN RAISE SQLSTATE '40001'; END $$`);
    },
  });
  const service = await served(t, node.url, async (purpose) =>
    purpose === 'read' ? recovering(cluster.open(url)) : cluster.open(url),
  );
  await service.reached(chain.height());
  t.equal((await service.get('/transactions')).status, 503);
  const client = await eventClient(t, `${service.url}/transactions/stream?type=4`, '0');
  while (ended < 5) await new Promise((resolve) => setTimeout(resolve, 20));
  isEnding = false;
  await client.until((events) => kept(events).at(-1) === idsOf(chain, 0, 4).at(-1));
  t.strictSame(kept(client.events), idsOf(chain, 0, 4));
});
