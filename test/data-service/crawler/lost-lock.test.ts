/** A crawler that has lost its lock, beside its successor (data-service.md#crawler). */
import t, { type Test } from 'tap';
import type { Database, WriterLock } from '../../../src/base/ports/database.ts';
import { AlreadyCrawled } from '../../../src/data-service/crawler/crawler.ts';
import { type Crawling, crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { onBothStores } from '../stores.ts';

t.setTimeout(240_000);

const grown = (seed: string, blocks: number): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 3, accounts: 10 });
  chain.grow(blocks);
  return chain;
};

/** A store whose locks go when the test wants it; `noticed`: whether their holder learns of it. */
function losable(db: Database, noticed: boolean) {
  let holder: object | undefined;
  const lock: Database['lock'] = async () => {
    if (holder !== undefined) return undefined;
    const mine = {};
    holder = mine;
    return {
      isLost: () => noticed && holder !== mine,
      async release() {
        if (holder === mine) holder = undefined;
      },
    };
  };
  const lose = (): void => {
    holder = undefined;
  };
  return { db: { ...db, lock }, lose };
}

/** A node that holds back its answers about blocks from a height on, until it is told otherwise. */
async function hesitating(
  t: Test,
  chain: MadeChain,
  from: number,
  paths = /^\/blocks\/seqext\/(\d+)\//,
) {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isAsked = false;
  const node = await madeNode(t, () => chain, {
    async delay(path) {
      const [, first] = paths.exec(path) ?? [];
      if (Number(first) < from || first === undefined) return;
      isAsked = true;
      await gone;
    },
  });
  const asked = async (): Promise<void> => {
    while (!isAsked) await later();
  };
  return { node, asked, go };
}

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
/** It waits while its successor has the lock. */
const isAside = ({ state }: Crawling): boolean =>
  state.lastError?.includes('another crawler') === true;
async function stoodAside(crawler: Crawling): Promise<void> {
  while (!isAside(crawler)) await later();
}
/** It has stood aside, or removed what it should not. */
async function decided(crawler: Crawling, db: Database): Promise<void> {
  const removals = () => db.query('SELECT FROM reorgs');
  while (!isAside(crawler) && (await removals()).length === 0) await later();
}
const ended = (crawler: { ended: Promise<void> }): Promise<unknown> =>
  crawler.ended.then(
    () => undefined,
    (cause) => cause,
  );

await onBothStores(t, 'tables are made under the lock', async (t, open) => {
  const chain = grown('migrated', 5);
  const node = await madeNode(t, () => chain);
  const { db } = losable(await open(), true);
  await db.exec('DROP SCHEMA public CASCADE');
  await db.exec('CREATE SCHEMA public');
  const other = await db.lock();
  const tables = <R extends object>() => db.query<R>(`SELECT to_regclass('meta')::text AS name`);
  t.type(await ended(crawl(t, db, [node.url])), AlreadyCrawled);
  const waiting = crawl(t, db, [node.url], { wait: true });
  let asked = 0;
  while (asked++ < 5) await later();
  t.strictSame(await tables(), [{ name: null }]);
  await other?.release();
  while ((await tables<{ name: string | null }>())[0]?.name === null) await later();
  await waiting.reached(6, chain.signature(6));
});

for (const noticed of [true, false]) {
  const name = `a lost lock, ${noticed ? 'noticed' : 'unnoticed'}`;
  await onBothStores(t, name, async (t, open) => {
    const chain = grown('lost', 60);
    const { db, lose } = losable(await open(), noticed);
    const slow = await hesitating(t, chain, 21);
    const options = { batchBlocks: 10, concurrency: 1 };
    const first = crawl(t, db, [slow.node.url], options);
    await slow.asked();
    while (first.state.height < 10) await later();
    lose();
    const node = await madeNode(t, () => chain);
    const second = crawl(t, db, [node.url], options);
    await second.reached(61, chain.signature(61));
    // The second ten wait for the next answer where the first ten were still being written.
    const { height } = first.state;
    slow.go();
    await stoodAside(first);
    t.equal(first.state.height, height, 'it has written nothing more');
    await second.reached(61, chain.signature(61));
    const rows = await db.query('SELECT at FROM reorgs');
    t.strictSame(rows, [], 'and removed nothing');
  });
}

await onBothStores(t, 'a lock that is lost between two batches', async (t, open) => {
  const chain = grown('between', 60);
  const { db, lose } = losable(await open(), true);
  const slow = await hesitating(t, chain, 21);
  const crawler = crawl(t, db, [slow.node.url], { batchBlocks: 10, concurrency: 1 });
  await slow.asked();
  while (crawler.state.height < 10) await later();
  lose();
  const successor = await db.lock();
  slow.go();
  await stoodAside(crawler);
  const [stored] = await db.query('SELECT max(height) AS height FROM blocks');
  t.strictSame(stored, { height: 10 }, 'although its blocks would continue the chain');
  t.match(crawler.log.of('crawl.failed')[0], { kind: 'database-lock' });
  await successor?.release();
});

await onBothStores(t, 'a lock that is lost in the middle of a long block', async (t, open) => {
  const chain = madeChain({ seed: 'middle', txsPerBlock: 30, accounts: 10 });
  chain.grow(5);
  const { db, lose } = losable(await open(), true);
  const tooBig = { status: 413, type: 'application/json', body: '{"error":413,"message":"big"}' };
  let successor: WriterLock | undefined;
  const node = await madeNode(t, () => chain, {
    async delay(path) {
      if (successor !== undefined || !/^\/blocks\/at\/4\?offset=[1-9]/.test(path)) return;
      lose();
      successor = await db.lock();
    },
    instead(path) {
      const [, from, to] = /^\/blocks\/seqext\/(\d+)\/(\d+)$/.exec(path) ?? [];
      if (Number(from) <= 4 && Number(to) >= 4) return tooBig;
      const [, limit] = /^\/blocks\/at\/4\?.*limit=(\d+)$/.exec(path) ?? [];
      return Number(limit) > 20 ? tooBig : undefined;
    },
  });
  const crawler = crawl(t, db, [node.url]);
  await stoodAside(crawler);
  const [stored] = await db.query('SELECT max(height) AS height FROM blocks');
  t.strictSame(stored, { height: 3 }, 'nothing of the block is written');
  await successor?.release();
});

await onBothStores(t, 'two branches, of which one is outdated', async (t, open) => {
  const chain = grown('outdated', 40);
  const { db, lose } = losable(await open(), false);
  const node = await madeNode(t, () => chain);
  const start = crawl(t, db, [node.url]);
  await start.reached(41, chain.signature(41));
  await start.stop();
  // The first crawler has found a reorganisation, and waits for the first block of the new branch.
  const branch = grown('outdated', 40);
  branch.reorganise(6, 8);
  const slow = await hesitating(t, branch, 30);
  const first = crawl(t, db, [slow.node.url]);
  await slow.asked();
  lose();
  chain.grow(5);
  const second = crawl(t, db, [node.url]);
  await second.reached(46, chain.signature(46));
  slow.go();
  await decided(first, db);
  t.strictSame(await db.query('SELECT at FROM reorgs'), [], 'blocks of the successor stay');
});

for (const noticed of [true, false]) {
  const name = `blocks that only go, and a lost lock, ${noticed ? 'noticed' : 'unnoticed'}`;
  await onBothStores(t, name, async (t, open) => {
    const chain = grown('only go', 40);
    const { db, lose } = losable(await open(), noticed);
    const start = crawl(t, db, [(await madeNode(t, () => chain)).url]);
    await start.reached(41, chain.signature(41));
    await start.stop();
    // The node of the first crawler is set back, and hesitates to show where. Nothing in the place of
    // the blocks has its confirmations yet.
    const shorter = grown('only go', 40);
    shorter.reorganise(9, 3);
    const slow = await hesitating(t, shorter, 33, /^\/blocks\/headers\/at\/(\d+)$/);
    const first = crawl(t, db, [slow.node.url], { confirmations: 10 });
    await slow.asked();
    lose();
    let top = 41;
    let successor: WriterLock | undefined;
    if (noticed) successor = await db.lock();
    else {
      chain.grow(5);
      top = chain.height();
      const second = crawl(t, db, [(await madeNode(t, () => chain)).url]);
      await second.reached(top, chain.signature(top));
    }
    slow.go();
    await decided(first, db);
    const [stored] = await db.query(
      'SELECT max(height) AS top, (SELECT count(*)::int FROM reorgs) AS removals FROM blocks',
    );
    t.strictSame(stored, { top, removals: 0 }, 'the first crawler removes nothing');
    await successor?.release();
  });
}

await onBothStores(t, 'only the first batch of a pass removes blocks', async (t, open) => {
  const chain = grown('batches of a branch', 40);
  const store = await open();
  let locks = 0;
  const db: Database = {
    ...store,
    lock() {
      locks++;
      return store.lock();
    },
  };
  const node = await madeNode(t, () => chain);
  const crawler = crawl(t, db, [node.url], { batchBlocks: 5, concurrency: 1 });
  await crawler.reached(41, chain.signature(41));
  chain.reorganise(12, 25);
  await crawler.reached(54, chain.signature(54));
  const removals = await db.query('SELECT from_height, to_height FROM reorgs');
  t.equal(removals.length, 1);
  t.equal(crawler.state.reorganisations, 1);
  t.equal(locks, 1, 'no later batch expects the tip that the first one has removed');
});

await onBothStores(t, 'a branch that its node leaves again', async (t, open) => {
  const chain = grown('left again', 40);
  const branch = grown('left again', 40);
  branch.reorganise(9, 12);
  const db = await open();
  const start = crawl(t, db, [(await madeNode(t, () => chain)).url]);
  await start.reached(41, chain.signature(41));
  await start.stop();
  chain.grow(4);
  // It shows the headers of the branch, and then the blocks of the chain that it had before.
  let isLeft = false;
  const node = await madeNode(t, () => (isLeft ? chain : branch), {
    before(path) {
      if (path.startsWith('/blocks/seqext')) isLeft = true;
    },
  });
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(45, chain.signature(45));
  t.equal(crawler.state.reorganisations, 1, 'a branch was shown');
  t.strictSame(
    await db.query('SELECT FROM reorgs'),
    [],
    'but no stored block is removed for itself',
  );
});
