/** Of several nodes one gives blocks that no store takes: the next one is asked. */
import t from 'tap';
import { rollBack } from '../../../src/data-service/crawler/remove-blocks.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { onBothStores } from '../stores.ts';

t.setTimeout(240_000);

const grown = (): MadeChain => {
  const chain = madeChain({ seed: 'refused', txsPerBlock: 3, accounts: 10 });
  chain.grow(10);
  return chain;
};

const HEIGHT = 5;
type Fields = Record<string, unknown>;

const firstChanged = (change: (txs: Fields[]) => Fields) => (block: Fields) => {
  const [, ...others] = block['transactions'] as Fields[];
  return { transactions: [change(block['transactions'] as Fields[]), ...others] };
};

const BAD: Readonly<Record<string, (block: Fields) => Fields>> = {
  version: () => ({ version: 99_999 }),
  'size of the block': () => ({ blocksize: 1e12 }),
  features: () => ({ features: ['x'] }),
  'rounds that are no number': () => ({ 'poa-consensus': { 'overall-skipped-rounds': 'x' } }),
  'turns that are no list': () => ({ 'poa-consensus': { 'lost-turns': {} } }),
  'turns of nobody': () => ({ 'poa-consensus': { 'lost-turns': [{}] } }),
  'type of a transaction': firstChanged(([tx]) => ({ ...tx, type: 70_000 })),
  'decimals of an asset': firstChanged(([tx]) => ({ ...tx, type: 3, decimals: 1e6 })),
  // Only the store sees these.
  'the same id twice': firstChanged(([tx, next]) => ({ ...tx, id: next?.['id'] })),
  'a sender that no index holds': firstChanged(([tx]) => ({ ...tx, sender: noise(20_000) })),
};

/** It does not compress. */
const noise = (chars: number): string => {
  let state = 1;
  return Array.from({ length: chars }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (state % 26));
  }).join('');
};

const with5 = (chain: MadeChain, change: (block: Fields) => Fields): MadeChain => ({
  ...chain,
  block(height) {
    const block = chain.block(height);
    return block && height === HEIGHT ? { ...block, ...change(block) } : block;
  },
});

await onBothStores(t, 'blocks that no store takes', async (t, open) => {
  const db = await open();
  const chain = grown();
  const good = await madeNode(t, () => chain);
  for (const [name, change] of Object.entries(BAD)) {
    const bad = await madeNode(t, () => with5(chain, change));
    const crawler = crawl(t, db, [bad.url, good.url]);
    await crawler.reached(11, chain.signature(11));
    t.ok(crawler.state.nodeErrors > 0, name);
    await crawler.stop();
    await rollBack(db, HEIGHT - 1, 0);
  }
});

await onBothStores(t, 'a section with a character that no text holds', async (t, open) => {
  const chain = grown();
  const node = await madeNode(t, () =>
    with5(chain, () => ({ 'poa-consensus': { 'overall-skipped-rounds': 1, x: 'a\0b' } })),
  );
  const db = await open();
  await crawl(t, db, [node.url]).reached(11, chain.signature(11));
  const rows = await db.query(
    `SELECT consensus->'poa-consensus'->>'x' AS x FROM blocks WHERE height = ${HEIGHT}`,
  );
  t.strictSame(rows, [{ x: 'ab' }]);
});
