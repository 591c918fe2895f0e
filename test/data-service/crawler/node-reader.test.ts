/** The node as the crawler reads it: one node at a time, within its limits. */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { MIB } from '../../../src/base/limits/budget.ts';
import type { Clock } from '../../../src/base/ports/clock.ts';
import type { HttpReply } from '../../../src/base/ports/http.ts';
import { transactionsOf } from '../../../src/data-service/crawler/block-parts.ts';
import type { ChainBlock } from '../../../src/data-service/crawler/chain-block.ts';
import { fetchRange } from '../../../src/data-service/crawler/fetch-blocks.ts';
import { NodeReader, TooMuch } from '../../../src/data-service/crawler/node-reader.ts';
import { verifyBlocks } from '../../../src/data-service/crawler/verify/verify-blocks.ts';
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
  return new NodeReader({ urls: [url] }, { http, clock, failed: () => {} });
}

/** The number of transactions of block 2, read to their end. */
async function allOf(reader: NodeReader): Promise<number> {
  const { blocks } = await reader.blocks(2, 2);
  let all = 0;
  for await (const part of transactionsOf(blocks[0]!)) all += part.length;
  return all;
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
    monotonic: () => now,
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
  t.equal(await allOf(readerOf(t, node.url, clock)), 3500);
  const late = await madeNode(t, () => chain, { delay: async () => advance(61_000) });
  await t.rejects(readerOf(t, late.url, clock).height(), { name: 'NodeAway' });
});

t.test('other blocks than were asked for', async (t) => {
  const chain = grown('other blocks', 6);
  for (const heights of [[2, 3, 4], [3], [3, 2], [2, 2], [1, 2]]) {
    const node = await madeNode(t, () => chain, {
      instead: (path) => (asked(path) > 0 ? json(heights.map(chain.block)) : undefined),
    });
    const other = { name: 'NodeAway', message: /other blocks than 2 to 3/ };
    await t.rejects(readerOf(t, node.url).blocks(2, 3), other, `${heights}`);
  }
});

t.test('a range that is too long for one answer', async (t) => {
  const chain = grown('too long', 9);
  const node = await madeNode(t, () => chain, {
    instead: (path) => (asked(path) > 3 ? tooBig : undefined),
  });
  const heights = async (from: number, to: number) => {
    const found = await fetchRange(readerOf(t, node.url), from, to).catch((cause) => cause);
    return [found.blocks?.map(({ height }: ChainBlock) => height), found.to];
  };
  t.strictSame(await heights(1, 9), [[1, 2, 3], 3], 'halved twice');
  t.strictSame(await heights(4, 6), [[4, 5, 6], 6]);
});

t.test('a part that is too long for one answer', async (t) => {
  const chain = grown('long parts', 3, 600);
  const limits: number[] = [];
  const node = await madeNode(t, () => chain, {
    instead(path) {
      if (asked(path) > 0) return tooBig;
      const limit = Number(/limit=(\d+)/.exec(path)?.[1]);
      limits.push(limit);
      return limit > 300 ? tooBig : undefined;
    },
  });
  t.equal(await allOf(readerOf(t, node.url)).catch((cause) => cause), 600);
  t.strictSame(limits, [1000, 500, 250, 250, 250], 'halved, and not tried longer again');
});

const PART = 1000;

/** A node whose block 2 has no end: each part is full of these transactions. */
async function endless(t: Test, transaction: object, delay?: () => Promise<void>) {
  const chain = grown('endless', 3);
  const transactions = Array<object>(PART).fill(transaction);
  const part = JSON.stringify({ ...chain.block(2), transactions });
  let parts = 0;
  const node = await madeNode(t, () => chain, {
    ...(delay === undefined ? {} : { delay }),
    instead(path) {
      if (asked(path) > 0) return tooBig;
      if (!path.startsWith('/blocks/at/2')) return undefined;
      parts++;
      return json(part);
    },
  });
  return { url: node.url, parts: () => parts, bytes: part.length };
}

const noEnd = { name: 'NodeAway', message: /block 2 has no end/ };

t.test('parts of another block, and parts of more than was asked for', async (t) => {
  const chain = grown('parts of another', 3, 1500);
  const block = chain.block(2)!;
  const transactions = block['transactions'] as object[];
  const wrong: readonly [path: string, answer: object][] = [
    ['offset=1000', { ...chain.block(3), height: 2, transactions: transactions.slice(1000) }],
    ['offset=0', { ...block, transactions: transactions.slice(0, PART + 1) }],
  ];
  for (const [at, answer] of wrong) {
    const node = await madeNode(t, () => chain, {
      instead(path) {
        if (asked(path) > 0) return tooBig;
        return path.includes(at) ? json(answer) : undefined;
      },
    });
    const none = { name: 'NodeAway', message: /does not give block 2 in parts/ };
    await t.rejects(allOf(readerOf(t, node.url)), none, at);
  }
});

t.test('a block without an end, by its bytes', async (t) => {
  const { url, parts, bytes } = await endless(t, { type: 4, text: 'x'.repeat(10_000) });
  await t.rejects(allOf(readerOf(t, url)), noEnd);
  t.ok(parts() * bytes < 75 * MIB, `${parts()} parts`);
});

t.test('a block without an end, by its transactions', async (t) => {
  const { url, parts } = await endless(t, { type: 4 });
  await t.rejects(allOf(readerOf(t, url)), noEnd);
  t.equal(parts(), 66, 'of 65,535 transactions');
});

t.test('a part is read when the one before it has been used', async (t) => {
  const { url, parts } = await endless(t, { type: 4 });
  const { blocks } = await readerOf(t, url).blocks(2, 2);
  for (let i = 1; i < 4; i++) {
    t.equal(parts(), i);
    await blocks[0]!.further![Symbol.asyncIterator]().next();
  }
});

t.test('a block that is larger than any by default', async (t) => {
  const chain = grown('large', 3, 3500);
  const padding = 'p'.repeat(20 * MIB);
  const large: MadeChain = {
    ...chain,
    block: (height) => ({ ...chain.block(height), blocksize: 2 * MIB, padding }),
  };
  const node = await madeNode(t, () => large, {
    instead: (path) => (asked(path) > 0 ? tooBig : undefined),
  });
  t.equal(await allOf(readerOf(t, node.url)), 3500, 'eighty MiB of JSON');
});

t.test('a block without an end, by its time', async (t) => {
  const { clock, advance } = slowClock();
  const { url, parts } = await endless(t, { type: 4 }, async () => advance(59_000));
  await t.rejects(allOf(readerOf(t, url, clock)), noEnd);
  t.equal(parts(), 11, 'ten minutes');
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
