/** Questions that are asked seldom, on both stores: each has the answer that the chain gives. */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { OPTIONS } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { type Served, served } from '../served.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);

const made = madeChain({ seed: 'questions', txsPerBlock: 1, accounts: 40 });
made.grow(8);

const [lessor, lessee, other] = (
  made.block(1)!['transactions'] as readonly { recipient: string }[]
).map(({ recipient }) => recipient);

const TIME = 1_600_000_100_000;
const tx = (id: string, type: number, of: Record<string, unknown>) => ({
  id: `${id}11111111`,
  type,
  version: 2,
  fee: 1,
  timestamp: TIME,
  sender: lessor,
  proofs: [],
  ...of,
});

/** The transactions of some blocks; the node shows the second lease with its cancellation alone. */
const own: Readonly<Record<number, readonly Record<string, unknown>[]>> = {
  2: [
    tx('first', 8, { recipient: lessee, amount: 5 }),
    tx('second', 8, { recipient: 'alias:T:renter', amount: 5 }),
    tx('rocket', 3, { name: 'To the 🚀!', description: 'moon', quantity: 5, decimals: 0 }),
    tx('letters', 3, { name: 'Qx', description: '', quantity: 5, decimals: 0 }),
  ],
  3: [
    tx('named', 10, { alias: 'renter', sender: other }),
    tx('endsfirst', 9, { leaseId: 'first11111111', lease: null }),
  ],
  // The order of the chain is not that of the times, and one time is yet to come.
  4: [
    tx('takes', 102, { target: other, role: 'dex', opType: 'remove', timestamp: TIME + 1000 }),
    tx('gives', 102, { target: other, role: 'dex', opType: 'add', timestamp: TIME }),
    tx('gives2', 102, { target: other, role: 'contract_developer', opType: 'add' }),
    tx('takes2', 102, {
      target: other,
      role: 'contract_developer',
      opType: 'remove',
      timestamp: 4_000_000_000_000,
    }),
  ],
  5: [
    tx('endssecond', 9, { leaseId: 'second11111111' }),
    tx('third', 8, { recipient: lessee, amount: 5 }),
    tx('endsthird', 9, { leaseId: 'third11111111' }),
    tx('endsshown', 9, { leaseId: 'x', lease: { id: 'x', recipient: lessee } }),
  ],
};

const chain: MadeChain = {
  ...made,
  block: (height) => {
    const block = made.block(height);
    return block && own[height] !== undefined ? { ...block, transactions: own[height] } : block;
  },
};

async function onBoth(name: string, check: (t: Test, service: Served) => Promise<void>) {
  const start = async (t: Test, open: () => Promise<Database>) => {
    let top = 2;
    const node = await madeNode(t, () => ({ ...chain, height: () => top }));
    // Blocks of one batch each, so that a lease is met in a batch, before it, and in the store.
    const service = await served(t, node.url, open, { crawl: { ...OPTIONS, batchBlocks: 1 } });
    await service.reached(top);
    top = chain.height();
    await service.reached(top);
    await check(t, service);
  };
  await t.test(`${name}, PGlite`, (t) => start(t, migratedDatabase));
  await t.test(`${name}, PostgreSQL`, { skip: cluster.skip }, async (t) => {
    const url = await cluster.createDatabase();
    await start(t, async () => cluster.open(url));
  });
}

const ids = (json: unknown): string[] => (json as { id: string }[]).map(({ id }) => id);

await onBoth('questions', async (t, { get, post }) => {
  const assets = async (search: string) => {
    const text = `search=${encodeURIComponent(search)}`;
    const counted = (await get(`/assets/count?${text}`)).json as { count: string };
    const found = ids((await get(`/assets?${text}`)).json);
    t.equal(Number(counted.count), found.length, `the count of ${search}`);
    return found.map((id) => id.replace(/1+$/, ''));
  };
  t.strictSame(await assets('🚀'), ['rocket']);
  t.strictSame(await assets('🚀!'), ['rocket']);
  t.strictSame(await assets('!'), ['rocket']);
  t.strictSame(await assets('x'), ['letters']);
  t.strictSame(await assets('qX'), ['letters']);
  t.strictSame(await assets('%'), []);
  t.strictSame(await assets('moon'), ['rocket']);

  const taken = async (recipient: string) =>
    ids((await get(`/transactions?type=9&sort=asc&recipient=${recipient}`)).json);
  t.strictSame(
    (await taken(lessee!)).map((id) => id.replace(/1+$/, '')),
    ['endsfirst', 'endsthird', 'endsshown'],
  );
  t.strictSame(await taken(other!), ['endssecond11111111']);
  t.strictSame(await taken(lessor!), []);

  t.match(await get('/users/alias:T:renter'), { status: 200, json: { address: other } });
  for (const alias of ['alias:X:renter', 'alias:T:', 'alias:T:nobody', 'alias::renter']) {
    t.equal((await get(`/users/${alias}`)).status, 404, alias);
  }

  const users = (await get(`/users?permissions=contract_developer`)).json;
  t.match(users, [{ address: other, permissions: ['contract_developer'] }]);
  t.strictSame((await get('/users?permissions=dex')).json, [], 'the latest time counts');
  const { json, headers } = await get(`/users/${other}`);
  t.strictSame((json as { permissions: string[] }).permissions, ['contract_developer']);
  t.equal(headers.get('etag'), null);
  const tagged = await get('/users?limit=1', { 'if-none-match': '*' });
  t.equal(tagged.headers.get('etag'), null, 'balances come after the block of the tag');
  t.match(tagged.headers.get('link'), /users\?limit=1&index=/);
  const posted = await post('/users', '{"limit":1}');
  t.ok(posted.headers.has('x-next-index'));
  t.equal(posted.headers.get('link'), null, 'an address does not say what the body asked for');

  const wrong = { status: 400, json: { error: 1 } };
  for (const path of ['/transactions', '/assets', '/users/count', '/blocks', '/stats']) {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const answer = await get(`${path}?${name}=1`);
      t.match(answer, wrong, `${path} ${name}`);
      t.match(answer.text, `"${name}":"unknown parameter"`);
    }
  }
  for (const value of ['{"toString":1}', '[{"toString":null}]', '[[1]]', '{}', 'null', '[null]']) {
    for (const path of ['/transactions', '/transactions/count', '/users']) {
      const answer = await post(path, `{"search":${value}}`);
      t.match(answer, wrong, `${path} ${value}`);
      t.match(answer.text, '"search":"must be a text');
    }
  }
  for (const name of ['__proto__', 'toString']) {
    const answer = await post('/transactions', `{"${name}":1}`);
    t.match(answer, wrong);
    t.match(answer.text, `"${name}":"unknown parameter"`);
  }
});

t.test('a list has 500 rows where its length is not given', async (t) => {
  const long = madeChain({ seed: 'long', txsPerBlock: 2, accounts: 5 });
  long.grow(610);
  const node = await madeNode(t, () => long);
  const service = await served(t, node.url, migratedDatabase);
  await service.reached(long.height());
  for (const path of ['/transactions', '/blocks']) {
    t.equal(((await service.get(path)).json as unknown[]).length, 500, path);
  }
  const { json } = await service.get('/api-docs/openapi.json');
  const described = json as {
    paths: Record<string, { get?: { parameters?: { name: string; description: string }[] } }>;
  };
  for (const [path, { get }] of Object.entries(described.paths)) {
    const limit = get?.parameters?.find(({ name }) => name === 'limit');
    if (limit !== undefined) t.match(limit.description, 'default 500', path);
  }
});
