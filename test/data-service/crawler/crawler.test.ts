/** The crawler against a made chain, on both stores (data-service.md#crawler). */
import t from 'tap';
import { rollBack } from '../../../src/data-service/crawler/remove-blocks.ts';
import { readMeta } from '../../../src/data-service/schema/migrate.ts';
import { FINAL_HEIGHT } from '../../../src/data-service/schema/tables.ts';
import { crawl } from '../crawling.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { digest, onBothStores } from '../stores.ts';

await onBothStores(
  t,
  'a crawl through random reorganisations equals a fresh crawl',
  async (t, open) => {
    const chain = madeChain({ seed: 'reorganised', txsPerBlock: 12 });
    const node = await madeNode(t, () => chain);
    const db = await open();
    const crawler = crawl(t, db, [node.url]);
    chain.grow(60);
    for (const [depth, blocks] of [
      [1, 1],
      [3, 9],
      [40, 45],
      [2, 1],
      [75, 90],
      [1, 2],
    ] as const) {
      await crawler.reached(chain.height(), chain.signature(chain.height()));
      chain.reorganise(depth, blocks);
    }
    await crawler.reached(chain.height(), chain.signature(chain.height()));
    await crawler.stop();
    t.ok(crawler.state.reorganisations >= 5, `${crawler.state.reorganisations} reorganisations`);
    const fresh = await open();
    const again = crawl(t, fresh, [node.url]);
    await again.reached(chain.height(), chain.signature(chain.height()));
    await again.stop();
    t.strictSame(await digest(db), await digest(fresh));
  },
);

await onBothStores(t, 'a first load without indexes equals an ordinary one', async (t, open) => {
  const chain = madeChain({ seed: 'bulk', txsPerBlock: 150 });
  chain.grow(80);
  const node = await madeNode(t, () => chain);
  const db = await open();
  const bulk = crawl(t, db, [node.url], { bulk: true });
  await bulk.reached(chain.height(), chain.signature(chain.height()));
  await bulk.stop();
  t.ok(bulk.log.of('crawl.index').length > 0, 'indexes were built last');
  const plain = await open();
  const crawler = crawl(t, plain, [node.url]);
  await crawler.reached(chain.height(), chain.signature(chain.height()));
  await crawler.stop();
  t.strictSame(await digest(db), await digest(plain));
});

await onBothStores(
  t,
  'with confirmations = final only final blocks are stored',
  async (t, open) => {
    const chain = madeChain({ seed: 'final', txsPerBlock: 3 });
    chain.grow(40);
    let finalHeight: number | undefined;
    const final = () => (finalHeight === undefined ? {} : { finalHeight });
    const node = await madeNode(t, () => chain, { final });
    const db = await open();
    const crawler = crawl(t, db, [node.url], { confirmations: 'final' });
    const polled = node.requests() + 20;
    while (node.requests() < polled) await new Promise((resolve) => setTimeout(resolve, 5));
    t.equal(crawler.state.height, 0, 'nothing is final, and nothing is stored');
    finalHeight = 25;
    await crawler.reached(25, chain.signature(25));
    chain.reorganise(12, 14);
    finalHeight = 31;
    await crawler.reached(31, chain.signature(31));
    await crawler.stop();
    const [stored] = await db.query('SELECT max(height) AS top FROM blocks');
    t.strictSame(stored, { top: 31 });
    t.equal(crawler.state.reorganisations, 0);
  },
);

await onBothStores(t, 'final blocks of the node are final in the store', async (t, open) => {
  const chain = madeChain({ seed: 'marks', txsPerBlock: 3 });
  chain.grow(40);
  let finalHeight: number | undefined;
  const final = () => (finalHeight === undefined ? {} : { finalHeight });
  const node = await madeNode(t, () => chain, { final });
  const db = await open();
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(chain.height(), chain.signature(chain.height()));
  const known = () => readMeta(db, FINAL_HEIGHT);
  const becomes = async (height: number): Promise<void> => {
    while ((await known()) !== String(height)) await new Promise((done) => setTimeout(done, 5));
  };
  t.equal(await known(), undefined, 'nobody votes on these blocks');
  finalHeight = 25;
  await becomes(25);
  const top = chain.height();
  finalHeight = top + 5;
  await becomes(top);
  chain.grow(3);
  await becomes(top + 3);
  await crawler.stop();
  await rollBack(db, 10, 0);
  t.equal(await known(), '10', 'an operator has removed blocks');
});
