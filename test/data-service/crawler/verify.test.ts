/** `data verify` compares one state of the store with one of the node, and finds what differs. */
import type { Test } from 'tap';
import t from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { rollBack } from '../../../src/data-service/crawler/remove-blocks.ts';
import {
  sampleOf,
  verifyBalances,
} from '../../../src/data-service/crawler/verify/verify-balances.ts';
import { verifyBlocks } from '../../../src/data-service/crawler/verify/verify-blocks.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { onBothStores } from '../stores.ts';

t.setTimeout(240_000);

const PAYER = '3MPayerInEachBlock1111111111111111';

/** In each block one address pays, so its balance follows from the height. */
function payingChain(seed: string): MadeChain {
  const plain = madeChain({ seed, txsPerBlock: 2, accounts: 8 });
  plain.grow(10);
  return {
    ...plain,
    block(height) {
      const block = plain.block(height);
      if (block === undefined || height === 1) return block;
      const id = `paid ${plain.signature(height)}`;
      const paid = { id, type: 998, version: 1, sender: PAYER, fee: 1, timestamp: height, height };
      return { ...block, transactions: [...(block['transactions'] as object[]), paid] };
    },
    balance: (address) => (address === PAYER ? 1000 - plain.height() : plain.balance(address)),
  };
}

const clock = systemClock(undefined);
/** Without pauses. */
const hasty = { after: (_ms: number, action: () => void) => clock.after(0, action) };

async function stored(t: Test, db: Database, chain: MadeChain): Promise<void> {
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(chain.height(), chain.signature(chain.height()));
  await crawler.stop();
}

async function readerOf(t: Test, chain: MadeChain, before?: (path: string) => void) {
  const { url } = await madeNode(t, () => chain, before === undefined ? {} : { before });
  const http = undiciClient();
  t.teardown(() => http.close());
  return new NodeReader({ urls: [url] }, { http, clock, failed: () => {} });
}

const all = (db: Database) => sampleOf(db, Number.POSITIVE_INFINITY, () => 0);
const changed = (db: Database, by: number) =>
  db.query(`UPDATE balances SET amount = amount + $2 WHERE address = $1`, [PAYER, by]);

await onBothStores(t, 'transactions of a block', async (t, open) => {
  const db = await open();
  const chain = payingChain('transactions');
  await stored(t, db, chain);
  const reader = await readerOf(t, chain);
  t.strictSame((await verifyBlocks(db, reader, 1)).different, []);
  await db.query(`UPDATE txs SET id = 'another' WHERE height = 5 AND sender = $1`, [PAYER]);
  t.strictSame((await verifyBlocks(db, reader, 1)).different, [5]);
});

await onBothStores(t, 'balances that the store knows to be outdated', async (t, open) => {
  const db = await open();
  const chain = payingChain('outdated');
  await stored(t, db, chain);
  const reader = await readerOf(t, chain);
  await changed(db, 1);
  t.strictSame((await verifyBalances(db, reader, hasty, all(db))).different, [PAYER]);
  await db.query('INSERT INTO balance_dirty VALUES ($1, $2)', [PAYER, chain.height()]);
  const again = await verifyBalances(db, reader, hasty, all(db));
  t.equal(again.left, 1);
  t.strictSame(again.different, []);
});

await onBothStores(t, 'a chain that goes on while the node answers', async (t, open) => {
  const db = await open();
  const chain = payingChain('goes on');
  await stored(t, db, chain);
  let blocks = 1;
  const reader = await readerOf(t, chain, (path) => {
    if (path === '/addresses/balance/details' && blocks-- > 0) chain.grow(1);
  });
  const found = await verifyBalances(db, reader, hasty, all(db));
  t.strictSame(found.different, []);
  t.ok(found.compared > 0 && found.left > 0);
});

await onBothStores(t, 'a store that goes on meanwhile', async (t, open) => {
  const db = await open();
  const chain = payingChain('store');
  await stored(t, db, chain);
  let times = 0;
  const moving: Database = {
    ...db,
    async query<R extends object>(sql: string, values?: Parameters<Database['query']>[1]) {
      // Another end of the store has other balances.
      if (sql.includes('LEFT JOIN balances')) {
        times++;
        if (times === 1) await rollBack(db, chain.height() - 1, 1);
        if (times <= 2) await changed(db, times === 1 ? 1 : -1);
        if (times === 1) await db.query('DELETE FROM balance_dirty');
      }
      return db.query<R>(sql, values);
    },
  };
  const found = await verifyBalances(moving, await readerOf(t, chain), hasty, all(db));
  t.strictSame(found.different, []);
  t.ok(times > 1 && found.compared > 0);
});
