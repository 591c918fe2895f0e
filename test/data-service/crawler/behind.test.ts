/** A node that is behind, or refuses, shows no other block: nothing is removed (data-service.md#reorganisations). */
import type { Test } from 'tap';
import t from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { type Crawling, crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { json, type MadeNode, madeNode } from '../made-node.ts';
import { memoryDatabase, onBothStores } from '../stores.ts';

const grown = (seed: string, blocks: number): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 3, accounts: 10 });
  chain.grow(blocks);
  return chain;
};

/** The first blocks of a chain, while `height` is set. */
function lagging(chain: MadeChain): MadeChain & { stopAt: number } {
  const view = {
    ...chain,
    stopAt: Number.POSITIVE_INFINITY,
    height: () => Math.min(chain.height(), view.stopAt),
    block: (height: number) => (height > view.stopAt ? undefined : chain.block(height)),
  };
  return view;
}

/** Some more passes of the crawler. */
async function passes(node: MadeNode): Promise<void> {
  const before = node.requests();
  while (node.requests() < before + 30) await later();
}

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

async function nothingRemoved(t: Test, db: Database, crawler: Crawling, height: number) {
  t.equal(crawler.state.reorganisations, 0);
  const [stored] = await db.query(
    'SELECT (SELECT max(height) FROM blocks) AS top, (SELECT count(*)::int FROM reorgs) AS removals',
  );
  t.strictSame(stored, { top: height, removals: 0 });
}

await onBothStores(t, 'nodes that are behind', async (t, open) => {
  const chain = grown('behind', 60);
  const behind = lagging(chain);
  const node = await madeNode(t, () => behind);
  const db = await open();
  const crawler = crawl(t, db, [node.url], { maxRollback: 5 });
  await crawler.reached(61, chain.signature(61));
  behind.stopAt = 41;
  await passes(node);
  await nothingRemoved(t, db, crawler, 61);
  t.equal(crawler.state.lastError, undefined);

  const status = { status: 429, type: 'application/json', body: '{"error":429,"message":"slow"}' };
  let isRefusing = false;
  /** A header that the node does not show, although its height says that it has the block. */
  let hidden = '';
  const noBlock = json({ status: 'error', details: 'No block for this height' });
  const refusing = await madeNode(t, () => chain, {
    instead(path) {
      if (path === hidden) return noBlock;
      return isRefusing && path.startsWith('/blocks/headers') ? status : undefined;
    },
  });
  await crawler.stop();
  const other = crawl(t, db, [node.url, refusing.url], { maxRollback: 5 });
  chain.grow(3);
  await other.reached(64, chain.signature(64));
  const asked = node.requests();
  await passes(refusing);
  t.equal(node.requests(), asked, 'the node that is behind is left for the next one');
  for (const code of [400, 403, 404, 429]) {
    status.status = code;
    isRefusing = true;
    await passes(refusing);
    await nothingRemoved(t, db, other, 64);
    isRefusing = false;
  }
  hidden = '/blocks/headers/at/64';
  await passes(refusing);
  await nothingRemoved(t, db, other, 64);
  hidden = '';
  chain.reorganise(4, 5);
  await other.reached(65, chain.signature(65));
  t.equal(other.state.reorganisations, 1, 'another block was shown');
});

await onBothStores(t, 'a node of another branch', async (t, open) => {
  const chain = grown('branches', 40);
  const node = await madeNode(t, () => chain);
  const db = await open();
  const first = crawl(t, db, [node.url]);
  await first.reached(41, chain.signature(41));
  await first.stop();
  // It shows other blocks, but has fewer of them than the next one.
  const stale = grown('branches', 40);
  stale.reorganise(9, 3);
  const crawler = crawl(t, db, [(await madeNode(t, () => stale)).url, node.url]);
  chain.grow(2);
  await crawler.reached(43, chain.signature(43));
  await nothingRemoved(t, db, crawler, 43);
  await crawler.stop();
  // Alone it is followed.
  const alone = crawl(t, db, [(await madeNode(t, () => stale)).url]);
  await alone.reached(35, stale.signature(35));
  t.equal(alone.state.reorganisations, 1);
});

t.test('a node that has no blocks at its height is asked once in a while', async (t) => {
  const chain = grown('empty', 10);
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  const node = await madeNode(t, () => chain, {
    instead: (path) => (path === '/blocks/height' ? json({ height: 15 }) : undefined),
  });
  const crawler = crawl(t, db, [node.url], { pollMs: 3_600_000 });
  const most = 200;
  while (crawler.state.nodeErrors === 0 && node.requests() < most) await later();
  t.ok(node.requests() < most, 'it is left before it is asked again and again');
  t.equal(crawler.state.height, 11, 'blocks that it has are taken');
  const before = node.requests();
  for (let i = 0; i < 100; i++) await fetch(`${node.url}/blocks/height`);
  t.equal(node.requests(), before + 100);
});
