/** The node as the crawler reads it: one node at a time, within its limits. */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { HttpReply } from '../../../src/base/http.ts';
import type { Clock } from '../../../src/base/ports.ts';
import { nodeReader, TooMuch } from '../../../src/data-service/crawler/node-reader.ts';
import { verifyBlocks } from '../../../src/data-service/crawler/verify-blocks.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { json, madeNode } from '../made-node.ts';
import { onBothStores } from '../stores.ts';

t.setTimeout(240_000);

const grown = (seed: string, blocks: number, txsPerBlock = 3): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock, accounts: 10 });
  chain.grow(blocks);
  return chain;
};

function readerOf(t: Test, url: string, clock: Clock = systemClock(undefined)) {
  const http = undiciClient();
  t.teardown(() => http.close());
  return nodeReader({ urls: [url] }, { http, clock, failed: () => {} });
}

const tooBig: HttpReply = {
  status: 413,
  type: 'application/json',
  body: '{"error":413,"message":"big"}',
};

/** The blocks that a range asks for; 0 for another path. */
function asked(path: string): number {
  const [, from, to] = /^\/blocks\/seqext\/(\d+)\/(\d+)$/.exec(path) ?? [];
  return from === undefined ? 0 : Number(to) - Number(from) + 1;
}

/** A clock that goes on only when it is told. */
function slowClock() {
  const waiting = new Map<() => void, number>();
  let now = 0;
  const clock: Clock = {
    ...systemClock(undefined),
    after(ms, action) {
      waiting.set(action, now + ms);
      return () => void waiting.delete(action);
    },
  };
  const advance = (ms: number): void => {
    now += ms;
    for (const [action, at] of waiting) if (at <= now) action();
  };
  return { clock, advance };
}

t.test('each part of a block has its minute', async (t) => {
  const chain = grown('parts', 3, 3500);
  const { clock, advance } = slowClock();
  const node = await madeNode(t, () => chain, {
    delay: async () => advance(25_000),
    instead: (path) => (asked(path) > 0 ? tooBig : undefined),
  });
  const { blocks } = await readerOf(t, node.url, clock).blocks(2, 2);
  t.equal(blocks[0]?.transactions.length, 3500);
  const late = await madeNode(t, () => chain, { delay: async () => advance(61_000) });
  await t.rejects(readerOf(t, late.url, clock).height(), { name: 'NodeAway' });
});

t.test('an answer of too many values is too long', async (t) => {
  const chain = grown('values', 3);
  const node = await madeNode(t, () => chain, {
    instead: (path) => (asked(path) > 1 ? json(`[${'{},'.repeat(4_000_000)}{}]`) : undefined),
  });
  await t.rejects(readerOf(t, node.url).blocks(1, 2), TooMuch);
});

await onBothStores(t, 'what is compared with a node', async (t, open) => {
  const db = await open();
  const chain = grown('compared', 60);
  const limits = { range: 100 };
  const node = await madeNode(t, () => chain, {
    instead: (path) => (asked(path) > limits.range ? tooBig : undefined),
  });
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(61, chain.signature(61));
  await crawler.stop();
  limits.range = 4;
  const all = { from: 1, to: 61, different: [] };
  t.strictSame(await verifyBlocks(db, readerOf(t, node.url), 1), all);
  const behind = await madeNode(t, () => grown('compared', 40));
  t.strictSame(await verifyBlocks(db, readerOf(t, behind.url), 1), { ...all, to: 41 });
  const other = grown('compared', 60);
  other.reorganise(2);
  const { url } = await madeNode(t, () => other);
  t.strictSame(await verifyBlocks(db, readerOf(t, url), 1), { ...all, different: [60, 61] });
});

await onBothStores(t, 'the network of the store', async (t, open) => {
  const db = await open();
  const chain = grown('network', 5);
  const is = { html: true };
  const node = await madeNode(t, () => chain, {
    instead: (path) =>
      is.html && path === '/node/config'
        ? { status: 200, type: 'text/html', body: '<html>' }
        : undefined,
  });
  const crawler = crawl(t, db, [node.url]);
  while (crawler.log.of('crawl.failed').length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const known = () => db.query(`SELECT value FROM meta WHERE key = 'chain_id'`);
  t.strictSame(await known(), [], 'it is not taken for one without an id');
  is.html = false;
  await crawler.reached(6, chain.signature(6));
  t.strictSame(await known(), [{ value: 'T' }]);
  for (const lose of [`DELETE FROM meta`, `UPDATE meta SET value = ''`]) {
    await db.exec(`${lose} WHERE key = 'chain_id'`);
    chain.grow(1);
    await crawler.reached(chain.height(), chain.signature(chain.height()));
    t.strictSame(await known(), [{ value: 'T' }]);
  }
});
