/** Pages of large rows, on both stores: each is bounded, and together they are the whole list. */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { cutPage, PAGE_BYTES } from '../../../src/data-service/api/page-cut.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { type Served, served } from '../served.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';
import { eventClient } from '../stream/event-client.ts';

const cluster = await postgresCluster(t);

/** Each character has six in JSON. */
const CONTROL = '\u0001'.repeat(50_000);
const PLAIN = 'plain '.repeat(10_000);
const LARGEST_BYTES = 6 * CONTROL.length;
/** Longer than a page may be. */
const GIANT = 'giant '.repeat(PAGE_BYTES / 5);

const made = madeChain({ seed: 'large', txsPerBlock: 1, accounts: 30 });
made.grow(12);

const entries = (height: number, i: number): Record<string, unknown>[] => [
  { key: 'large', type: 'string', value: i % 3 === 0 ? CONTROL : PLAIN },
  ...(height === 6 && i === 2 ? [{ key: 'giant', type: 'string', value: GIANT }] : []),
];

const all: string[] = [];
const own: Record<string, unknown>[][] = [];
for (let height = 2; height <= 10; height++) {
  own[height] = Array.from({ length: 6 }, (_, i) => {
    const id = `${'abcdefghijk'[height]}${'pqrstuvwxyz'[i]}111111`;
    all.push(id);
    const sender = made.block(2)!['generator'];
    const data = entries(height, i);
    return {
      id,
      type: 12,
      version: 2,
      fee: 1,
      timestamp: 0,
      sender,
      author: sender,
      proofs: [],
      data,
    };
  });
}

const chain: MadeChain = {
  ...made,
  block: (height) => {
    const block = made.block(height);
    const transactions = own[height] ?? [];
    return block && { ...block, transactions, transactionCount: transactions.length };
  },
};

const ids = (json: unknown): string[] => (json as { id: string }[]).map(({ id }) => id);

interface Paged {
  readonly rows: readonly unknown[];
  readonly sizes: readonly number[];
}

async function paged({ get }: Served, path: string): Promise<Paged> {
  const rows: unknown[] = [];
  const sizes: number[] = [];
  for (let index: string | null = ''; index !== null; ) {
    const answer = await get(`${path}${index === '' ? '' : `&index=${index}`}`);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    rows.push(...(answer.json as unknown[]));
    sizes.push(answer.text.length);
    index = answer.headers.get('x-next-index');
  }
  return { rows, sizes };
}

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  let db: Database | undefined;
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, async () => {
    db = await open();
    return db;
  });
  await service.reached(chain.height());
  const beyond = (largest: number): number => PAGE_BYTES + largest + 50_000;

  for (const sort of ['asc', 'desc']) {
    const wanted = sort === 'asc' ? all : all.toReversed();
    const path = `/transactions?type=12&extended=true&sort=${sort}`;
    const { rows, sizes } = await paged(service, path);
    t.strictSame(ids(rows), wanted, path);
    t.ok(sizes.length > 2, 'it has several pages');
    const large = sizes.filter((size) => size > beyond(LARGEST_BYTES));
    t.ok(large.length <= 1, 'one page has the giant');
    for (const size of large) t.ok(size <= beyond(GIANT.length + LARGEST_BYTES));
    const few = await paged(service, `${path}&limit=4`);
    t.strictSame(ids(few.rows), wanted, 'with a limit, too');
    const short = await paged(service, `/transactions?type=12&sort=${sort}`);
    t.strictSame(ids(short.rows), wanted);
    t.equal(short.sizes.length, 1, 'a summary is short');

    const entries = await paged(service, `/api/v1/txData/large?sort=${sort}`);
    t.strictSame(ids(entries.rows), wanted, 'entries');
    t.ok(entries.sizes.length > 1);
    for (const size of entries.sizes) t.ok(size <= 6 * beyond(CONTROL.length), 'of entries');
  }
  const read = await db!.query(
    `SELECT * FROM ${cutPage({
      seqs: '(SELECT seq FROM txs)',
      sort: 'asc',
      limit: 500,
      bytesMax: 1,
      bytesOf: (seq) => `(SELECT octet_length(body::text) FROM txs WHERE txs.seq = ${seq})`,
    })} cut`,
  );
  t.equal(read.length, 2, 'none beyond the row that follows the page');
  const values = await paged(service, '/api/v1/txData/giant?limit=5');
  t.strictSame(
    values.rows.map((row) => (row as { value: string }).value.length),
    [GIANT.length],
  );

  const stream = await eventClient(t, `${service.url}/transactions/stream?extended=true`, '0');
  await stream.until((events) => events.length === all.length);
  t.strictSame(
    stream.events.map(({ data }) => data['id']),
    all,
    'the stream',
  );

  const users = ids(
    ((await service.get('/users?sort=asc')).json as { address: string }[]).map(({ address }) => ({
      id: address,
    })),
  );
  const rich = users.slice(0, 3);
  // Every holding of one asset, as balances of a node become rows.
  for (const address of rich) {
    await db!.query(
      `INSERT INTO balances SELECT $1, md5(n::text) || md5(n::text), 9000000000000000000, 1
       FROM generate_series(1, 20000) n`,
      [address],
    );
  }
  const listed = await paged(service, '/users?sort=asc');
  t.strictSame(
    listed.rows.map((user) => (user as { address: string }).address),
    users,
    'users',
  );
  t.ok(listed.sizes.length > 1);
  for (const size of listed.sizes) t.ok(size <= beyond(20_000 * 130), 'of users');
  await db!.query(
    `INSERT INTO balances SELECT $1, 'more' || n, 1, 1 FROM generate_series(1, 60000) n`,
    [rich[0]!],
  );
  const refused = await service.get('/users?sort=asc&limit=1');
  t.match(refused, { status: 413, json: { error: 413 } });
  t.equal((await service.get('/users?sort=asc&limit=2&index=2')).status, 200);
}

t.test('PGlite', (t) => check(t, migratedDatabase));
t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  await check(t, async () => cluster.open(url));
});
