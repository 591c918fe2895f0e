/** The assets of one address, page by page (data-service.md#balances): what is no page ends the reading. */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { HttpReply } from '../../../src/base/ports/http.ts';
import { NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { json, madeNode } from '../made-node.ts';

const ids = Array.from({ length: 40 }, (_, i) => `asset${String(i).padStart(3, '0')}`);
const held = (assetId: string, i: number) => ({ assetId, balance: i + 1 });
const tooBig: HttpReply = { status: 413, type: 'application/json', body: '{"error":413}' };

/** `page` answers instead of the node where it gives something. */
async function readingPages(
  t: Test,
  page: (after: string, limit: number) => HttpReply | undefined,
) {
  const plain = madeChain({ seed: 'pages', txsPerBlock: 1, accounts: 5 });
  plain.grow(1);
  const chain: MadeChain = { ...plain, assets: () => ids.map(held) };
  const address = String(plain.block(1)?.['generator']);
  let pages = 0;
  const { url } = await madeNode(t, () => chain, {
    instead(path) {
      if (!path.startsWith(`/assets/balance/${address}`)) return undefined;
      pages++;
      const query = new URLSearchParams(path.split('?')[1]);
      return page(query.get('after') ?? '', Number(query.get('limit')));
    },
  });
  const http = undiciClient();
  t.teardown(() => http.close());
  const clock = systemClock(undefined);
  const reader = new NodeReader({ urls: [url] }, { http, clock, failed: () => {} });
  return { read: () => reader.holdingsInParts(address), pages: () => pages };
}

t.test('all pages', async (t) => {
  const { read, pages } = await readingPages(t, (_, limit) => (limit > 8 ? tooBig : undefined));
  const found = await read();
  t.strictSame([...found.keys()], ['', ...ids]);
  t.ok(pages() > 40 / 8, 'several, and smaller than the first one');
});

t.test('a page that comes again and again', async (t) => {
  const { read, pages } = await readingPages(t, () =>
    json({ balances: ids.slice(0, 3).map(held) }),
  );
  await t.rejects(read(), { name: 'NodeAway', message: /does not give the assets .* in pages/ });
  t.equal(pages(), 2);
});

t.test('a page with more than was asked for', async (t) => {
  const { read } = await readingPages(t, (after, limit) => {
    if (limit > 8) return tooBig;
    const following = ids.filter((id) => id > after);
    return json({ balances: following.slice(0, limit + 1).map(held) });
  });
  await t.rejects(read(), { name: 'NodeAway', message: /does not give the assets .* in pages/ });
});

t.test('a page without its list, or with something else in it', async (t) => {
  for (const body of [
    {},
    { balances: 5 },
    { balances: [{ assetId: 'a' }] },
    { balances: [null] },
  ]) {
    const { read } = await readingPages(t, () => json(body));
    await t.rejects(read(), { name: 'NodeAway', message: /does not give the assets .* in pages/ });
  }
});

t.test('an asset that no answer holds', async (t) => {
  const { read } = await readingPages(t, () => tooBig);
  await t.rejects(read(), { name: 'NodeAway', message: /too long for an answer/ });
});
