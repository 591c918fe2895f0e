/** Blocks whose rows are long: batches end by bytes, and COPY comes in pieces. */
import t from 'tap';
import { MIB } from '../../../src/base/budget.ts';
import type { Database } from '../../../src/base/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { memoryDatabase, onBothStores } from '../stores.ts';

const ENTRIES = 8;
const VALUE_CHARS = 15_000;
const TXS = 5;

/** Each block has some transactions whose data are control characters, six bytes of JSON each. */
function fullChain(seed: string, blocks: number): MadeChain {
  const plain = madeChain({ seed, txsPerBlock: 1, accounts: 5 });
  plain.grow(blocks);
  const value = '\u0001'.repeat(VALUE_CHARS);
  const tx = (height: number, i: number) => ({
    id: `data ${plain.signature(height)} ${i}`,
    type: 12,
    version: 1,
    sender: 'sender',
    fee: 1,
    timestamp: height,
    proofs: [],
    height,
    data: Array.from({ length: ENTRIES }, (_, key) => ({ key: `${key}`, type: 'string', value })),
  });
  return {
    ...plain,
    block(height) {
      const block = plain.block(height);
      if (block === undefined || height < 3) return block;
      return { ...block, transactions: Array.from({ length: TXS }, (_, i) => tx(height, i)) };
    },
  };
}

/** Bytes of each COPY, and of all of each transaction. */
function weighed(db: Database) {
  const pieces: number[] = [];
  const batches: number[] = [];
  const transaction: Database['transaction'] = (work) =>
    db.transaction((queries) => {
      let bytes = 0;
      const copied = { ...queries };
      copied.copy = (table, columns, rows) => {
        pieces.push(rows.length);
        bytes += rows.length;
        return queries.copy(table, columns, rows);
      };
      return work(copied).finally(() => batches.push(bytes));
    });
  return { db: { ...db, transaction }, pieces, batches };
}

const BLOCKS = 12;
const BLOCK_BYTES = TXS * ENTRIES * VALUE_CHARS * 9;

await onBothStores(t, 'blocks of control characters', async (t, open) => {
  const chain = fullChain('full', BLOCKS);
  const node = await madeNode(t, () => chain);
  const { db, pieces, batches } = weighed(await open());
  const crawler = crawl(t, db, [node.url], { batchBlocks: 100 });
  await crawler.reached(BLOCKS + 1, chain.signature(BLOCKS + 1));
  const [stored] = await db.query<{ n: string; chars: string }>(
    'SELECT count(*) AS n, sum(length(value)) AS chars FROM data_entries',
  );
  const entries = (BLOCKS - 1) * TXS * ENTRIES;
  t.match(stored, { n: String(entries), chars: String(entries * VALUE_CHARS) });
  t.ok(Math.max(...batches) < 16 * MIB + BLOCK_BYTES, `${Math.max(...batches)} bytes of a batch`);
  // The body of a transaction is one line.
  const line = ENTRIES * VALUE_CHARS * 8;
  t.ok(Math.max(...pieces) < MIB + line, `${Math.max(...pieces)} bytes of a COPY`);
});

t.test('a block that no answer can hold', async (t) => {
  const plain = madeChain({ seed: 'parts', txsPerBlock: 300, accounts: 10 });
  plain.grow(5);
  const tooBig = { status: 413, type: 'application/json', body: '{"error":413,"message":"big"}' };
  const parts: string[] = [];
  const node = await madeNode(t, () => plain, {
    instead(path) {
      const [, from, to] = /^\/blocks\/seqext\/(\d+)\/(\d+)$/.exec(path) ?? [];
      if (Number(from) <= 4 && Number(to) >= 4) return tooBig;
      const [, limit] = /^\/blocks\/at\/4\?.*limit=(\d+)$/.exec(path) ?? [];
      if (limit === undefined) return undefined;
      if (Number(limit) > 100) return tooBig;
      parts.push(path);
      return undefined;
    },
  });
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(6, plain.signature(6));
  const rows = await db.query<{ id: string }>('SELECT id FROM txs WHERE height = 4 ORDER BY seq');
  const { transactions } = plain.block(4) as { transactions: { id: string }[] };
  t.strictSame(
    rows,
    transactions.map(({ id }) => ({ id })),
  );
  t.equal(parts.length, 5, 'three hundred in parts of 63');
});
