/**
 * Balances and turns are written only at the end of the store that they were read for, and from one
 * node (data-service.md#balances).
 */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../../src/adapters/system.ts';
import type { Database } from '../../../../src/base/ports/database.ts';
import type { HttpReply } from '../../../../src/base/ports/http.ts';
import { NodeReader } from '../../../../src/data-service/crawler/node-reader.ts';
import type { BesideCrawl } from '../../../../src/data-service/crawler/refresh/beside-crawl.ts';
import { balanceRefresher } from '../../../../src/data-service/crawler/refresh/refresh-balances.ts';
import { turnRefresher } from '../../../../src/data-service/crawler/refresh/refresh-turns.ts';
import { rollBack } from '../../../../src/data-service/crawler/remove-blocks.ts';
import { NotContinuous } from '../../../../src/data-service/crawler/store-end.ts';
import { memoryLog } from '../../../node/memory-ports.ts';
import { crawl } from '../../crawling.ts';
import { type MadeChain, madeChain } from '../../made-chain.ts';
import { json, type MadeNodeOptions, madeNode } from '../../made-node.ts';
import { onBothStores } from '../../stores.ts';

t.setTimeout(240_000);

const grown = (seed: string, blocks = 30): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 3, accounts: 10 });
  chain.grow(blocks);
  return chain;
};

const clock = systemClock(undefined);
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const refusal = (status: number): HttpReply => ({ status, type: 'application/json', body: '{}' });

const marks = (db: Database) =>
  db.query<{ n: number; top: number }>(
    'SELECT count(*)::int AS n, max(since_height) AS top FROM balance_dirty',
  );

/** A store at the tip of a chain, with a mark of each user. */
async function marked(t: Test, db: Database, chain: MadeChain): Promise<void> {
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(chain.height(), chain.signature(chain.height()));
  await crawler.stop();
  await db.query('INSERT INTO balance_dirty SELECT address, $1 FROM users', [chain.height()]);
  await db.query(`DELETE FROM meta WHERE key = 'turns_height'`);
}

async function refreshing(t: Test, db: Database, chain: MadeChain, options: MadeNodeOptions) {
  const http = undiciClient();
  t.teardown(() => http.close());
  const { url } = await madeNode(t, () => chain, options);
  const node = new NodeReader({ urls: [url] }, { http, clock, failed: () => {} });
  const deps = { db, clock, log: memoryLog() };
  const run = (work: BesideCrawl, assertLocked = (): void => {}): Promise<unknown> =>
    work({ node, nodes: 1, assertLocked }).catch((cause: unknown) => cause);
  return { run, balances: balanceRefresher(deps), turns: turnRefresher(deps) };
}

await onBothStores(t, 'a store that changes while the node answers', async (t, open) => {
  const db = await open();
  const chain = grown('changing');
  await marked(t, db, chain);
  let removes = true;
  const settings = { banDurationBlocks: 10, warningsForBan: 3, maxBansPercentage: 40 };
  const { run, balances, turns } = await refreshing(t, db, chain, {
    async delay(path) {
      if (removes && path === '/addresses/balance/details') await rollBack(db, 28, 1);
    },
    instead: (path) => (path === '/consensus/settings' ? json(settings) : undefined),
  });
  t.type(await run(balances), NotContinuous);
  const [left] = await marks(db);
  t.ok(left!.n > 5, 'the marks stay');
  removes = false;
  const lost = (): void => {
    throw new Error('the lock is lost');
  };
  t.match(await run(balances, lost), { message: 'the lock is lost' });
  t.match(await run(turns, lost), { message: 'the lock is lost' });
  t.strictSame(await marks(db), [left]);
  t.strictSame(await db.query(`SELECT FROM meta WHERE key = 'turns_height'`), []);
  // The removal of blocks comes between the reading of blocks and the writing of their turns.
  const removing: Database = {
    ...db,
    async transaction(work) {
      if (!removes) await rollBack(db, 20, 2);
      removes = true;
      return db.transaction(work);
    },
  };
  const deps = { db: removing, clock, log: memoryLog() };
  t.type(await run(turnRefresher(deps)), NotContinuous);
});

await onBothStores(t, 'a node of another branch than the store', async (t, open) => {
  const db = await open();
  const chain = grown('branching');
  await marked(t, db, chain);
  const before = await marks(db);
  const branch = grown('branching');
  branch.reorganise(3, 5);
  const { run, balances } = await refreshing(t, db, branch, {});
  t.equal(await run(balances), false);
  t.strictSame(await marks(db), before);
});

await onBothStores(t, 'a chain that is set back after a first load', async (t, open) => {
  const db = await open();
  const chain = grown('set back');
  await marked(t, db, chain);
  chain.reorganise(6, 2);
  await rollBack(db, 25, 1);
  t.equal((await marks(db))[0]?.top, 25, 'no mark is above the last block');
  const node = await madeNode(t, () => chain);
  await crawl(t, db, [node.url]).reached(27, chain.signature(27));
});

await onBothStores(t, 'balances of two nodes are not mixed', async (t, open) => {
  const db = await open();
  const chain = grown('two nodes');
  const first = await madeNode(t, () => ({ ...chain, balance: () => 1 }), {
    instead: (path) => (path === '/assets/balance' ? refusal(502) : undefined),
  });
  const second = await madeNode(t, () => ({ ...chain, balance: () => 2 }));
  const crawler = crawl(t, db, [first.url, second.url]);
  await crawler.reached(31, chain.signature(31));
  t.strictSame(await db.query('SELECT DISTINCT amount FROM balances'), [{ amount: '2' }]);
});

await onBothStores(t, 'a node that refuses the settings of its consensus', async (t, open) => {
  const db = await open();
  const chain = grown('settings', 10);
  const node = await madeNode(t, () => chain, {
    instead: (path) => (path === '/consensus/settings' ? refusal(403) : undefined),
  });
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(11, chain.signature(11));
  for (let height = 12; height < 15; height++) {
    chain.grow(1);
    await crawler.reached(height, chain.signature(height));
  }
  while (crawler.log.of('crawl.turns-failed').length === 0) await later();
  t.strictSame(crawler.log.of('crawl.failed'), []);
});
