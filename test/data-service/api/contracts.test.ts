/** Creations, calls and updates of contracts stand in the chain inside their results (105), on both stores. */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { type Served, served } from '../served.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);

const CONTRACT = 'CreateMadeThisContract1111111111111111111';
const OTHER = 'CreateMadeTheotherContract11111111111111111';
const CALL = 'Ca11ofThisContract111111111111111111111111';

const shared = { version: 1, fee: 5, timestamp: 1_600_000_100_000, sender: '3MCaLLerofContracts' };
/** The result of a transaction. */
const result = (id: string, tx: Record<string, unknown>) => ({
  ...shared,
  id,
  type: 105,
  proofs: ['q'],
  tx: { ...shared, proofs: ['p'], ...tx },
  results: [{ key: 'sum', type: 'integer', value: 7 }],
});
const created = { type: 103, contractName: 'golden ledger', image: 'registry/golden', params: [] };
const updated = { type: 107, contractId: CONTRACT, image: 'registry/silver' };

const own: Readonly<Record<number, readonly Record<string, unknown>[]>> = {
  3: [result('ResU1tofCreate', { ...created, id: CONTRACT })],
  4: [
    result('ResU1tofCa11', { type: 104, id: CALL, contractId: CONTRACT, params: [] }),
    result('ResU1tofUpdate', { ...updated, id: 'UpdateofThisContract' }),
    result('ResU1tofother', { type: 104, id: 'Ca11ofTheother', contractId: OTHER, params: [] }),
  ],
  5: [{ ...shared, id: 'Disab1ed', type: 106, contractId: CONTRACT, proofs: ['q'] }],
};

const made = madeChain({ seed: 'contracts', txsPerBlock: 3, accounts: 10 });
made.grow(8);
const chain: MadeChain = {
  ...made,
  block: (height) => {
    const block = made.block(height);
    const transactions = block?.['transactions'] as readonly Record<string, unknown>[];
    return block && { ...block, transactions: [...transactions, ...(own[height] ?? [])] };
  },
};

type Check = (t: Test, service: Served) => Promise<void>;

/** One service on each store, for all checks. */
async function onBoth(checks: Readonly<Record<string, Check>>): Promise<void> {
  const start = async (t: Test, open: () => Promise<Database>) => {
    const node = await madeNode(t, () => chain);
    const service = await served(t, node.url, open);
    await service.reached(chain.height());
    for (const [name, check] of Object.entries(checks)) {
      await t.test(name, (t) => check(t, service));
    }
  };
  await t.test('PGlite', (t) => start(t, migratedDatabase));
  await t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
    const url = await cluster.createDatabase();
    await start(t, async () => cluster.open(url));
  });
}

const carried: Check = async (t, { get }) => {
  const found = async (query: string) => {
    const [list, count] = await Promise.all([
      get(`/transactions?sort=asc&${query}`),
      get(`/transactions/count?${query}`),
    ]);
    const ids = (list.json as { id: string }[]).map(({ id }) => id);
    t.match(count.json, { count: String(ids.length) }, query);
    return ids;
  };
  const ofContract = ['ResU1tofCreate', 'ResU1tofCa11', 'ResU1tofUpdate', 'Disab1ed'];
  t.strictSame(await found(`contractId=${CONTRACT}`), ofContract);
  t.strictSame(await found(`contractId=${OTHER}`), ['ResU1tofother']);
  t.strictSame(await found(`contractId=${CALL}`), []);
  t.strictSame(await found(`contractId=${CONTRACT}&type=105&sender=${shared.sender}`), [
    ...ofContract.slice(0, 3),
  ]);
  t.strictSame(await found('search=golden'), ['ResU1tofCreate'], 'by its name');
  t.strictSame(await found('search=registry%2Fsilver'), ['ResU1tofUpdate'], 'by its image');
  t.strictSame(await found(`search=${CALL}`), ['ResU1tofCa11']);
  t.strictSame(await found('search=Ca11of'), ['ResU1tofCa11', 'ResU1tofother']);
  t.strictSame(await found(`search=${CONTRACT}&scope=in_tx_ids`), ['ResU1tofCreate']);
  t.strictSame(await found('type=104'), [], 'a block holds their results');
};

const byId: Check = async (t, { get }) => {
  for (const id of [CALL, 'ResU1tofCa11']) {
    t.match(await get(`/transactions/id/${id}?extended=true`), {
      status: 200,
      json: { id: 'ResU1tofCa11', type: 105, tx: { id: CALL } },
    });
  }
  t.equal((await get(`/transactions/id/${OTHER}`)).status, 404);
};

await onBoth({
  'what a result carries is found': carried,
  'one transaction by the id of what it carries': byId,
});
