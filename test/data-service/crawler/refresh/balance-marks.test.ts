/** Balances that are read above the stored blocks stay right where the node replaces those blocks. */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../../src/adapters/system.ts';
import type { Database } from '../../../../src/base/ports/database.ts';
import { NodeReader } from '../../../../src/data-service/crawler/node-reader.ts';
import { balanceRefresher } from '../../../../src/data-service/crawler/refresh/refresh-balances.ts';
import { rollBack } from '../../../../src/data-service/crawler/remove-blocks.ts';
import { memoryLog } from '../../../node/memory-ports.ts';
import { crawl } from '../../crawling.ts';
import { type MadeChain, madeChain } from '../../made-chain.ts';
import { madeNode } from '../../made-node.ts';
import { onBothStores } from '../../stores.ts';

/** It pays in block 10, and in block 12 of the first branch alone. */
const PAYER = '3MPayerWhoPaysItsFeesInThatAsset111';

function payingChain(blocks: number): MadeChain {
  const options = { seed: 'ahead', txsPerBlock: 2, accounts: 10 };
  const same = madeChain(options);
  same.grow(12);
  const first = same.signature(12);
  const chain = madeChain(options);
  chain.grow(blocks);
  const pays = (height: number): boolean =>
    chain.height() >= height && (height === 10 || chain.signature(12) === first);
  return {
    ...chain,
    block(height) {
      const block = chain.block(height);
      if (block === undefined || !(height === 10 || (height === 12 && pays(12)))) return block;
      const shared = { type: 10, version: 2, fee: 5, timestamp: height, proofs: [], height };
      const tx = { ...shared, id: `payer ${height}`, alias: `n${height}`, sender: PAYER };
      return { ...block, transactions: [...(block['transactions'] as object[]), tx] };
    },
    balance: (address) =>
      address === PAYER ? 100 - (pays(10) ? 5 : 0) - (pays(12) ? 5 : 0) : chain.height(),
  };
}

const CONFIRMATIONS = 5;

async function stateOf(db: Database) {
  const [state] = await db.query<{ height: number; unread: number; ahead: number }>(
    `SELECT (SELECT max(height) FROM blocks) AS height,
       (SELECT count(*)::int FROM balance_dirty WHERE since_height >= 0) AS unread,
       (SELECT count(*)::int FROM balance_dirty WHERE since_height < 0) AS ahead`,
  );
  return state!;
}

/** Resolves once the store has this height and no balances are to be read. */
async function read(db: Database, height: number): Promise<void> {
  const isRead = async (): Promise<boolean> => {
    const state = await stateOf(db);
    return state.height === height && state.unread === 0;
  };
  while (!(await isRead())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function balanceOf(db: Database, address: string): Promise<number> {
  const [row] = await db.query<{ amount: string }>(
    `SELECT amount FROM balances WHERE address = $1 AND asset_id = ''`,
    [address],
  );
  return Number(row?.amount);
}

const marksOf = async (db: Database): Promise<number[]> => {
  const sql = 'SELECT since_height FROM balance_dirty WHERE address = $1';
  const rows = await db.query<{ since_height: number }>(sql, [PAYER]);
  return rows.map(({ since_height }) => since_height);
};

/** A store that is five blocks behind its node. */
async function behind(scope: Test, open: () => Promise<Database>) {
  const chain = payingChain(14);
  let asked = 0;
  const node = await madeNode(scope, () => chain, {
    before: (path) => {
      if (path === '/addresses/balance/details') asked++;
    },
  });
  const db = await open();
  const start = () => crawl(scope, db, [node.url], { confirmations: CONFIRMATIONS });
  const crawler = start();
  await read(db, chain.height() - CONFIRMATIONS);
  return { chain, db, crawler, start, asked: () => asked };
}

await onBothStores(t, 'blocks that the store never has', async (t, open) => {
  const { chain, db, crawler, start } = await behind(t, open);
  t.equal(await balanceOf(db, PAYER), 90, 'at the tip of the node');
  t.strictSame(await marksOf(db), [-15], 'the mark stays');
  await crawler.stop();
  // A start loses nothing of it.
  start();
  chain.reorganise(4, 12);
  t.equal(chain.balance(PAYER), 95);
  await read(db, chain.height() - CONFIRMATIONS);
  t.strictSame(await db.query('SELECT FROM reorgs'), [], 'the store has removed no block');
  t.equal(await balanceOf(db, PAYER), 95);
  chain.grow(20);
  await read(db, chain.height() - CONFIRMATIONS);
  t.strictSame(await marksOf(db), []);
});

await onBothStores(t, 'blocks that the store gets', async (t, open) => {
  const { chain, db, crawler, asked } = await behind(t, open);
  const before = asked();
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.equal(asked(), before, 'balances are read once');
  for (let height = 11; height <= 15; height++) {
    chain.grow(1);
    await read(db, height);
  }
  const [state] = await db.query<{ lowest: number | null }>(
    'SELECT min(-since_height) AS lowest FROM balance_dirty',
  );
  t.ok((state?.lowest ?? 99) > 15, 'marks of stored blocks are gone');
  t.equal(await balanceOf(db, PAYER), 90);
  t.ok((await stateOf(db)).ahead > 0);
  await crawler.stop();
  await rollBack(db, 13, 1);
  t.equal((await stateOf(db)).ahead, 0, 'a rollback has them read again');
  t.strictSame(await db.query(`SELECT FROM meta WHERE key = 'balances_ahead'`), []);
});

await onBothStores(t, 'a block that comes before the balances are read', async (t, open) => {
  const chain = payingChain(10);
  const node = await madeNode(t, () => chain);
  const db = await open();
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(11, chain.signature(11));
  await crawler.stop();
  await db.query('INSERT INTO balance_dirty VALUES ($1, 11)', [PAYER]);
  chain.grow(1);
  const http = undiciClient();
  t.teardown(() => http.close());
  const clock = systemClock(undefined);
  const reader = new NodeReader({ urls: [node.url] }, { http, clock, failed: () => {} });
  const refresh = balanceRefresher({ db, clock, log: memoryLog() });
  const pass = { node: reader, nodes: 1, assertLocked() {} };
  t.equal(await refresh(pass), true);
  t.equal(await balanceOf(db, PAYER), 90);
  t.strictSame(await marksOf(db), [-12]);
  t.equal(await refresh(pass), false, 'it is not read again');
  chain.reorganise(1, 2);
  await crawl(t, db, [node.url]).reached(13, chain.signature(13));
  t.equal(await balanceOf(db, PAYER), 95);
  t.strictSame(await db.query(`SELECT FROM meta WHERE key = 'balances_ahead'`), []);
});
