/** Pages of entries, also where one transaction has several entries of one stored key. */
import t, { type Test } from 'tap';
import type { Database } from '../../../../src/base/ports/database.ts';
import { type MadeChain, madeChain } from '../../made-chain.ts';
import { madeNode } from '../../made-node.ts';
import { type Served, served } from '../../served.ts';
import { migratedDatabase, postgresCluster } from '../../stores.ts';

const cluster = await postgresCluster(t);

const plain = madeChain({ seed: 'equal keys', txsPerBlock: 1, accounts: 10 });
/** By height; the store removes U+0000. */
const KEYS: Readonly<Record<number, readonly string[]>> = {
  5: ['k'],
  6: ['k', 'k\0', 'k\0\0'],
  8: ['k', '\0k'],
  9: ['other'],
};
const entriesAt = (height: number): readonly string[] =>
  (KEYS[height] ?? []).flatMap((key, i) => (key.includes('k') ? `data${height} ${i}` : []));
const ALL = Object.keys(KEYS).flatMap((height) => entriesAt(Number(height)));

const chain: MadeChain = {
  ...plain,
  block(height) {
    const block = plain.block(height);
    const data = KEYS[height]?.map((key, i) => ({ key, type: 'integer', value: i }));
    if (data === undefined) return block;
    const sender = plain.block(2)!['generator'];
    const id = `data${height}`;
    const shared = { height, timestamp: 1, fee: 5, proofs: [], version: 2 };
    return { ...block, transactions: [{ ...shared, id, type: 12, sender, author: sender, data }] };
  },
};
chain.grow(12);

interface Entry {
  readonly id: string;
  readonly position_in_tx: number;
}

async function pagesOf({ get }: Served, path: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let index: string | null = ''; index !== null && pages.length < 10; ) {
    const answer = await get(`${path}${index === '' ? '' : `&index=${index}`}`);
    const entries = answer.json as Entry[];
    pages.push(entries.map(({ id, position_in_tx }) => `${id} ${position_in_tx}`));
    index = answer.headers.get('x-next-index');
  }
  return pages;
}

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, open);
  await service.reached(chain.height());
  const [five, six, eight] = [5, 6, 8].map(entriesAt);
  const path = '/api/v1/txData/k';
  t.strictSame(await pagesOf(service, `${path}?sort=asc`), [ALL]);
  t.strictSame(await pagesOf(service, `${path}?sort=asc&limit=1`), [five, six, eight, []]);
  t.strictSame(await pagesOf(service, `${path}?sort=desc&limit=1`), [eight, six, five]);
  t.strictSame(await pagesOf(service, `${path}?sort=desc&limit=2`), [eight, six, five]);
  t.strictSame(await pagesOf(service, `${path}?sort=asc&limit=3`), [[...five!, ...six!], eight]);
  t.strictSame(await pagesOf(service, `${path}/1?limit=1`), [['data8 1'], ['data6 1']]);
}

t.test('PGlite', (t) => check(t, () => migratedDatabase()));
t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  await check(t, async () => cluster.open(url));
});
