/** A block and its transactions are of one branch, also where blocks are removed between them. */
import t from 'tap';
import type { Database } from '../../../../src/base/ports/database.ts';
import { madeChain } from '../../made-chain.ts';
import { madeNode } from '../../made-node.ts';
import { served } from '../../served.ts';
import { migratedDatabase } from '../../stores.ts';

const LATER = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

t.test('a reorganisation between a block and its transactions', async (t) => {
  const chain = madeChain({ seed: 'one block', txsPerBlock: 3, accounts: 10 });
  chain.grow(18);
  const node = await madeNode(t, () => chain);
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  let interruptions = 0;
  async function reorganise(): Promise<void> {
    interruptions--;
    chain.reorganise(3, 4);
    const sql = 'SELECT FROM blocks WHERE signature = $1';
    const tip = chain.signature(chain.height());
    while ((await db.query(sql, [tip])).length === 0) await LATER();
  }
  const reading: Database = {
    ...db,
    async query(sql, values, signal) {
      if (interruptions > 0 && sql.includes('t.seq BETWEEN')) await reorganise();
      return db.query(sql, values, signal);
    },
  };
  const service = await served(t, node.url, async () => ({ ...db, reading }));
  await service.reached(chain.height());
  const height = chain.height() - 1;
  interruptions = 1;
  const { status, json } = await service.get(`/blocks/${height}`);
  t.equal(status, 200);
  const { signature, transactions } = json as { signature: string; transactions: { id: string }[] };
  const block = chain.block(height) as { transactions: { id: string }[] };
  t.equal(signature, chain.signature(height));
  t.strictSame(
    transactions.map(({ id }) => id),
    block.transactions.map(({ id }) => id),
  );
  interruptions = 10;
  const refused = await service.get(`/blocks/${height}`);
  t.equal(refused.status, 503, 'it is not tried for ever');
  t.notMatch(refused.headers.get('cache-control') ?? '', 'max-age');
});
