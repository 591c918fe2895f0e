/** The stream of transactions (data-service.md#stream): nothing missing, nothing twice. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { pgliteDatabase } from '../../../src/adapters/database/pglite.ts';
import { ipRange } from '../../../src/base/ip-range.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { seededRandom } from '../../crypto/random.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';
import { migratedFolder } from '../initial-cluster.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { OPEN_TO_ALL, type Served, served } from '../served.ts';
import { slowly, waiting } from '../slowly.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';
import { type EventClient, eventClient, type StreamEvent } from './event-client.ts';
import { idsOf, kept } from './kept-events.ts';

const cluster = await postgresCluster(t);
type Open = () => Promise<Database>;

const onPostgres = async (): Promise<Open> => {
  const url = await cluster.createDatabase();
  return async () => cluster.open(url);
};

const grown = (seed: string, blocks = 20): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 8, accounts: 20 });
  chain.grow(blocks);
  return chain;
};

const NOTE = 'long '.repeat(10_000);

const lastIs = (id: string | undefined) => (events: readonly StreamEvent[]) =>
  kept(events).at(-1) === id;

async function reached(service: Served, chain: MadeChain): Promise<void> {
  const tip = async () => (await service.get('/blocks?limit=1')).json as { signature: string }[];
  while ((await tip())[0]?.signature !== chain.signature(chain.height())) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function growing(t: Test, open: Open): Promise<void> {
  const chain = grown('growing');
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, open);
  await service.reached(chain.height());
  const start = chain.height();
  const [all, transfers] = await Promise.all([
    eventClient(t, `${service.url}/transactions/stream`),
    eventClient(t, `${service.url}/transactions/stream?type=4&extended=true`),
  ]);
  for (let i = 0; i < 4; i++) {
    chain.grow(3);
    await reached(service, chain);
  }
  await all.until(lastIs(idsOf(chain).at(-1)));
  await transfers.until(lastIs(idsOf(chain, 0, 4).at(-1)));
  t.strictSame(kept(all.events), idsOf(chain, start));
  t.strictSame(kept(transfers.events), idsOf(chain, start, 4));
  const [first] = transfers.events;
  const listed = await service.get(`/transactions/id/${first?.data['id']}?extended=true`);
  t.strictSame(first?.data, JSON.parse(listed.text), 'an event shows what the list shows');

  chain.reorganise(5, 7);
  await reached(service, chain);
  await all.until(lastIs(idsOf(chain).at(-1)));
  t.strictSame(kept(all.events), idsOf(chain, start));
  const back = all.events.filter(({ type }) => type === 'rollback');
  t.strictSame(back, [{ type: 'rollback', data: { height: start + 12 - 5 } }]);

  const whole = await eventClient(t, `${service.url}/transactions/stream`, '0');
  await whole.until(lastIs(idsOf(chain).at(-1)));
  t.strictSame(kept(whole.events), idsOf(chain), 'the index 0 begins with the first block');
}

t.test('a growing chain, PGlite', (t) => growing(t, migratedDatabase));
t.test('a growing chain, PostgreSQL', { skip: cluster.skip }, async (t) =>
  growing(t, await onPostgres()),
);

t.test('what becomes final', async (t) => {
  const chain = grown('final');
  let finalHeight = 12;
  const node = await madeNode(t, () => chain, { final: () => ({ finalHeight }) });
  const service = await served(t, node.url, migratedDatabase);
  await service.reached(chain.height());
  const get = async (path: string) => (await service.get(path)).json;
  const isFinal = async (height: number) => (await get(`/blocks/${height}`)) as { final?: boolean };
  while ((await isFinal(12)).final !== true) await new Promise((done) => setTimeout(done, 20));
  t.match(await isFinal(13), { final: false, transactions: [{ final: false }] });
  const client = await eventClient(t, `${service.url}/transactions/stream`);
  const finals = (events: readonly StreamEvent[]) => events.filter(({ type }) => type === 'final');
  await client.until((events) => finals(events).length === 1);
  const { headers } = await service.get('/blocks?limit=1');
  t.match(await get('/transactions?limit=1'), [{ final: false }]);
  finalHeight = 20;
  await client.until((events) => finals(events).length === 2);
  t.strictSame(finals(client.events), [
    { type: 'final', data: { height: 12 } },
    { type: 'final', data: { height: 20 } },
  ]);
  t.match(await get('/transactions?heightTo=20&limit=1&extended=true'), [{ final: true }]);
  const again = await service.get('/blocks?limit=1', { 'if-none-match': headers.get('etag')! });
  t.equal(again.status, 200, 'the answer is another one, though there is no block');
  finalHeight = 5;
  chain.reorganise(10);
  await client.until((events) => events.some(({ type }) => type === 'rollback'));
  finalHeight = 15;
  await client.until((events) => finals(events).length === 3);
  t.strictSame(finals(client.events).at(-1), { type: 'final', data: { height: 15 } });
});

/** STREAM_ROUNDS=400: about 1,000 blocks with 50 reorganisations. */
const ROUNDS = Number(process.env['STREAM_ROUNDS'] ?? 25);
const MS_PER_ROUND_MAX = 3_000;
const REORGANISED_ONE_IN = ROUNDS < 100 ? 3 : 8;

/** A client that is interrupted, and changes between two servers, while the chain changes at random. */
async function interruptions(t: Test, open: Open, isShared: boolean): Promise<void> {
  const chain = grown('interruptions');
  const node = await madeNode(t, () => chain);
  const crawler = await served(t, node.url, open);
  const other = isShared ? await served(t, node.url, open, { crawl: undefined }) : crawler;
  await crawler.reached(chain.height());
  await other.reached(chain.height());
  const random = seededRandom('interruptions');
  const below = (bound: number): number => random.bytes(1)[0]! % bound;
  const events: StreamEvent[] = [];
  let client: EventClient | undefined;
  let lastId = '0';
  let reorganisations = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { url } = round % 2 === 0 ? crawler : other;
    client = await eventClient(t, `${url}/transactions/stream?type=4,11,12`, lastId);
    if (below(REORGANISED_ONE_IN) === 0) {
      chain.reorganise(1 + below(6), below(9));
      reorganisations++;
    } else chain.grow(1 + below(4));
    // The interruption comes anywhere in between.
    await new Promise((resolve) => setTimeout(resolve, below(120)));
    if (below(4) === 0) await reached(crawler, chain);
    await client.close();
    events.push(...client.events);
    lastId = client.lastId();
  }
  client = await eventClient(t, `${other.url}/transactions/stream?type=4,11,12`, lastId);
  await reached(crawler, chain);
  const wanted = [4, 11, 12].map((type) => new Set(idsOf(chain, 0, type)));
  const expected = idsOf(chain).filter((id) => wanted.some((ids) => ids.has(id)));
  const complete = (more: readonly StreamEvent[]): boolean =>
    kept([...events, ...more]).at(-1) === expected.at(-1);
  await client.until(complete);
  t.strictSame(kept([...events, ...client.events]), expected);
  t.ok(events.some(({ type }) => type === 'rollback'));
  t.comment(`${chain.height()} blocks, ${reorganisations} reorganisations`);
}

const interrupted = { timeout: 60_000 + ROUNDS * MS_PER_ROUND_MAX };
t.test('interruptions, PGlite', interrupted, (t) => interruptions(t, migratedDatabase, false));
t.test('interruptions, PostgreSQL', { ...interrupted, skip: cluster.skip }, async (t) =>
  interruptions(t, await onPostgres(), true),
);

/** More than the buffers of a connection hold. */
const withNotes = (chain: MadeChain): MadeChain => ({
  ...chain,
  block(height) {
    const block = chain.block(height);
    const transactions = block?.['transactions'] as readonly object[];
    return block && { ...block, transactions: transactions.map((tx) => ({ ...tx, note: NOTE })) };
  },
});

t.test('a client that takes too little', { timeout: 110_000 }, async (t) => {
  const chain = withNotes(grown('slow', 60));
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, migratedDatabase, { streamsMax: 1 });
  await service.reached(chain.height());
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.endsWith('\r\n0\r\n\r\n')) resolve();
    });
    socket.once('close', resolve);
  });
  const begins = once(socket, 'data').then(() => socket.pause());
  const path = '/transactions/stream?extended=true';
  socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\nLast-Event-ID: 0\r\n\r\n`);
  await begins;
  // It has the only place until the server ends it.
  for (let status = 503; status === 503; ) {
    const another = await eventClient(t, `${service.url}/transactions/stream`);
    status = another.status;
    await another.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  socket.resume();
  await ended;
  t.match(text, /event: end\ndata: \{"reason":"slow"/);
  const ids = [...text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id!);
  t.ok(ids.length < idsOf(chain).length, 'it has not got all');
  const rest = await eventClient(t, service.url + path, ids.at(-1));
  await rest.until(lastIs(idsOf(chain).at(-1)));
  t.strictSame(kept(rest.events), idsOf(chain).slice(Number(ids.at(-1)?.split('-')[0])));
});

t.test('refusals', async (t) => {
  const chain = grown('refusals');
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, migratedDatabase, { streamsMax: 2 });
  await service.reached(chain.height());
  const path = '/transactions/stream';
  const open = (query = '', id?: string) => eventClient(t, service.url + path + query, id);
  const wrong = await service.get(`${path}?limit=5&amount=1`);
  t.match(wrong, { status: 400, json: { error: 1 } });
  t.strictSame((wrong.json as { validationErrors: object }).validationErrors, {
    limit: 'unknown parameter',
    amount: "requires exactly one 'type' and 'assetId'",
  });
  for (const id of ['x', '-1', '1-2', '99999999999999999', "1-2-'", 'Infinity', '1-2-abcdefghi']) {
    t.equal((await open('', id)).status, 400, id);
  }
  for (const id of ['5-7777-abc', `5-${Date.now() * 2}-abc`, '5-0-wrong']) {
    const lost = await open('', id);
    await lost.ended;
    t.match(lost.events, [{ type: 'end', data: { reason: 'place' } }], id);
  }
  const first = await open();
  const second = await open();
  t.equal((await service.get(path)).status, 503, 'no third');
  await first.close();
  for (let status = 503; status === 503; ) {
    const third = await open('?type=4');
    status = third.status;
  }
  await service.service.stop();
  await second.ended;
  t.match(second.events, [{ type: 'end', data: { reason: 'stopping' } }]);
});

t.test('filters that take long keep no other stream waiting', { skip: cluster.skip }, async (t) => {
  const chain = grown('slow filters');
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const service = await served(t, node.url, async () => slowly(cluster.open(url)));
  await besideSlowFilters(t, chain, service);
});

t.test('the same in PGlite, which ends its thread', { timeout: 110_000 }, async (t) => {
  const chain = grown('slow filters in PGlite');
  const node = await madeNode(t, () => chain);
  const folder = await migratedFolder(temporaryFolder(t));
  const service = await served(t, node.url, async () => {
    const db = await pgliteDatabase(folder, { statementMs: 1000 });
    return { ...db, reading: slowly(db.reading!) };
  });
  const readers = await besideSlowFilters(t, chain, service);
  const [first, ...others] = readers;
  await first!.ended;
  t.match(first!.events, [{ type: 'end', data: { reason: 'query' } }]);
  for (const { status, ended, events } of others) {
    await ended;
    if (status === 200) t.match(events, [{ type: 'end', data: { reason: 'query' } }]);
    else t.equal(status, 429, 'their client has to wait');
  }
  t.equal((await service.get('/transactions/stream?search=slowly')).status, 429);
});

const SLOW = '?search=slowly&scope=in_description';

/** A follower gets everything, while the filters of these readers take long. */
async function besideSlowFilters(t: Test, chain: MadeChain, service: Served) {
  await service.reached(chain.height());
  const start = chain.height();
  const path = `${service.url}/transactions/stream`;
  const follower = await eventClient(t, path);
  const readers = [];
  for (const from of ['0', '0', '0', '', '']) readers.push(await eventClient(t, path + SLOW, from));
  for (let i = 0; i < 3; i++) {
    chain.grow(2);
    await reached(service, chain);
    await follower.until(lastIs(idsOf(chain).at(-1)));
  }
  t.strictSame(kept(follower.events), idsOf(chain, start));
  return readers;
}

t.test('a reader that catches up has one turn, apart from the others', async (t) => {
  const check = async (t: Test, open: (begins: () => void) => Promise<Database>) => {
    const chain = grown('one turn');
    const node = await madeNode(t, () => chain);
    let slow = 0;
    const service = await served(t, node.url, () => open(() => slow++));
    await besideSlowFilters(t, chain, service);
    t.ok(slow <= 3, `${slow} queries: one of those that catch up, and one of each other reader`);
  };
  await t.test('PGlite', (t) =>
    check(t, async (begins) => {
      const db = await migratedDatabase();
      return { ...db, reading: waiting(db.reading!, begins) };
    }),
  );
  await t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
    const url = await cluster.createDatabase();
    await check(t, async (begins) => waiting(cluster.open(url), begins));
  });
});

t.test('the turns apart are shared among clients', async (t) => {
  const check = async (t: Test, open: () => Promise<Database>): Promise<void> => {
    const chain = grown('turns apart');
    chain.grow(150);
    const node = await madeNode(t, () => chain);
    const service = await served(t, node.url, open, {
      access: { ...OPEN_TO_ALL, trustedProxies: [ipRange('127.0.0.1')!] },
      streamsMax: 20,
    });
    await service.reached(chain.height());
    const opened = (client: string, query: string) =>
      eventClient(t, `${service.url}/transactions/stream${query}`, '0', {
        'x-forwarded-for': client,
      });
    for (let i = 0; i < 5; i++) await opened('10.0.0.2', SLOW);
    const honest = await opened('10.0.0.1', '');
    await honest.until(lastIs(idsOf(chain).at(-1)));
    t.strictSame(kept(honest.events), idsOf(chain));
  };
  // A query that held the only thread of PGlite would be ended, and its reader with it.
  await t.test('PGlite', (t) =>
    check(t, async () => {
      const db = await migratedDatabase();
      return { ...db, reading: waiting(db.reading!) };
    }),
  );
  await t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
    const url = await cluster.createDatabase();
    await check(t, async () => slowly(cluster.open(url)));
  });
});

t.test('the streams of one client are limited', async (t) => {
  const check = async (t: Test, open: () => Promise<Database>): Promise<void> => {
    const chain = grown('of one');
    const node = await madeNode(t, () => chain);
    const service = await served(t, node.url, open, { streamsOfClientMax: 2 });
    await service.reached(chain.height());
    const path = `${service.url}/transactions/stream`;
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await eventClient(t, path)).status);
    t.strictSame(statuses, [200, 200, 503]);
  };
  await t.test('PGlite', (t) => check(t, migratedDatabase));
  await t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
    const url = await cluster.createDatabase();
    await check(t, async () => cluster.open(url));
  });
});

t.test('no notifications, and lost connections', { skip: cluster.skip }, async (t) => {
  const chain = grown('away');
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const open = async () => cluster.open(url);
  const mute = async (): Promise<Database> => {
    const db = await open();
    return { ...db, listen: () => Promise.reject(new Error('cannot execute LISTEN')) };
  };
  const [hearing, polling] = [
    await served(t, node.url, open),
    await served(t, node.url, mute, { crawl: undefined }),
  ];
  await hearing.reached(chain.height());
  await polling.reached(chain.height());
  const clients = await Promise.all(
    [hearing, polling].map(({ url }) => eventClient(t, `${url}/transactions/stream`)),
  );
  const all = async (above: number): Promise<void> => {
    for (const client of clients) {
      await client.until(lastIs(idsOf(chain).at(-1)));
      t.strictSame(kept(client.events), idsOf(chain, above));
    }
  };
  const start = chain.height();
  chain.grow(4);
  await all(start);
  const killer = cluster.open(url, { poolSize: 1 });
  await killer.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await killer.close();
  chain.grow(4);
  await all(start);
});
