/** Balances of the store follow those of the node, on both stores (data-service.md#balances). */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { balanceRefresher } from '../../../src/data-service/crawler/refresh/refresh-balances.ts';
import {
  sampleOf,
  verifyBalances,
} from '../../../src/data-service/crawler/verify/verify-balances.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { json, type MadeNodeOptions, madeNode } from '../made-node.ts';
import { memoryDatabase, onBothStores } from '../stores.ts';

const clock = systemClock(undefined);
/** Without pauses. */
const hasty = { after: (_ms: number, action: () => void) => clock.after(0, action) };

function readerOf(t: Test, url: string): NodeReader {
  const http = undiciClient();
  t.teardown(() => http.close());
  return new NodeReader({ urls: [url] }, { http, clock, failed: () => {} });
}

const all = (db: Database) => sampleOf(db, Number.POSITIVE_INFINITY, () => 0);
const compared = (db: Database, node: NodeReader) => verifyBalances(db, node, hasty, all(db));

const ISSUER = '3MIssuerOfAnAssetThatPaysFees111111';
const PAYER = '3MPayerWhoPaysItsFeesInThatAsset111';
const ASSET = 'AssetThatPaysFees';
const ISSUED_AT = 3;

/** Blocks from `sponsored` on have a transaction whose fee a sponsor pays, who is no party of it. */
function sponsoredChain(seed: string, sponsored: number, isCall: boolean) {
  const plain = madeChain({ seed, txsPerBlock: 4, accounts: 10 });
  const tx = (height: number) => {
    const shared = { height, timestamp: height, fee: 5, proofs: [], version: 2 };
    if (height === ISSUED_AT) {
      const asset = { name: 'Fees', description: '', quantity: 100, decimals: 0, reissuable: true };
      return [{ ...shared, ...asset, id: ASSET, type: 3, sender: ISSUER }];
    }
    if (height < sponsored) return [];
    const id = `sponsored ${plain.signature(height)}`;
    const asset = { feeAssetId: ASSET };
    const call = { ...shared, ...asset, id: `call ${id}`, type: 104, contractId: 'c', params: [] };
    return isCall
      ? [{ ...shared, fee: 0, id, type: 105, sender: PAYER, results: [], tx: call }]
      : [{ ...shared, ...asset, id, type: 10, alias: id, sender: PAYER }];
  };
  const chain: MadeChain = {
    ...plain,
    block(height) {
      const block = plain.block(height);
      if (block === undefined) return undefined;
      const transactions = [...(block['transactions'] as object[]), ...tx(height)];
      return { ...block, transactions };
    },
    balance: (address) =>
      address === ISSUER ? 1000 - Math.max(0, plain.height() - sponsored + 1) : 7,
    assets(address) {
      const paid = 5 * Math.max(0, plain.height() - sponsored + 1);
      if (address === ISSUER) return [{ assetId: ASSET, balance: 50 + paid }];
      return address === PAYER ? [{ assetId: ASSET, balance: 500 - paid }] : [];
    },
  };
  return chain;
}

for (const isCall of [false, true]) {
  const what = isCall ? 'call' : 'transaction';
  await onBothStores(t, `the sponsor of a ${what} gets its new balances`, (t, open) =>
    followsSponsor(t, open, sponsoredChain('sponsor', 12, isCall)),
  );
}

async function followsSponsor(t: Test, open: () => Promise<Database>, chain: MadeChain) {
  chain.grow(9);
  const node = await madeNode(t, () => chain);
  const db = await open();
  const crawler = crawl(t, db, [node.url]);
  const heldBy = async () => {
    await crawler.reached(chain.height(), chain.signature(chain.height()));
    const rows = await db.query<{ asset_id: string; amount: string }>(
      'SELECT asset_id, amount FROM balances WHERE address = $1 ORDER BY asset_id',
      [ISSUER],
    );
    return rows.map(({ asset_id, amount }) => [asset_id, amount]);
  };
  const before = [
    ['', '1000'],
    [ASSET, '50'],
  ];
  t.strictSame(await heldBy(), before, 'as issued');
  chain.grow(5);
  t.strictSame(
    await heldBy(),
    [
      ['', '996'],
      [ASSET, '70'],
    ],
    'fees were paid',
  );
  chain.reorganise(6, 2);
  t.strictSame(await heldBy(), before, 'fees of removed blocks were given back');
  await crawler.stop();
  const reader = readerOf(t, node.url);
  const found = await compared(db, reader);
  t.strictSame({ left: found.left, different: found.different }, { left: 0, different: [] });
  t.ok(found.compared > 10);
  await db.query('UPDATE balances SET amount = amount + 1 WHERE address = $1 AND asset_id = $2', [
    ISSUER,
    ASSET,
  ]);
  const other = String(chain.block(1)?.['generator']);
  await db.query(`INSERT INTO balances VALUES ($1, 'another asset', 4, 1)`, [other]);
  t.strictSame((await compared(db, reader)).different.toSorted(), [ISSUER, other].toSorted());
  let drawn = 0;
  const sample = sampleOf(db, 3, (bound) => drawn++ % bound);
  const few = await verifyBalances(db, reader, hasty, sample);
  t.equal(few.compared, 3, 'a sample');

  chain.grow(2);
  const later = await compared(db, reader);
  t.ok(!later.different.includes(ISSUER), 'later blocks change it');
  t.ok(later.left >= 2 && later.compared > 0);
  chain.reorganise(4);
  t.match(await compared(db, reader), { compared: 0 }, 'another branch says nothing');
}

/** A node that refuses lists of addresses, and lists of assets, that are too long for it. */
const refusesLong = (
  lists: { addresses: number; assets: number },
  chain: MadeChain,
): NonNullable<MadeNodeOptions['instead']> => {
  const tooBig = { status: 413, type: 'application/json', body: '{"error":413,"message":"big"}' };
  const assetsOf = (address: string): number => chain.assets?.(address).length ?? 0;
  return (path, body) => {
    const [, address = '', limit = Infinity] =
      /^\/assets\/balance\/(\w+)(?:\?limit=(\d+).*)?$/.exec(path) ?? [];
    if (address !== '' && Math.min(assetsOf(address), Number(limit)) > lists.assets) return tooBig;
    if (path !== '/assets/balance') return undefined;
    const asked = (JSON.parse(body) as { addresses: string[] }).addresses;
    const isLong = asked.some((one) => assetsOf(one) > lists.assets);
    return asked.length > lists.addresses || isLong ? tooBig : undefined;
  };
};

await onBothStores(t, 'balances that are refused', async (t, open) => {
  const plain = madeChain({ seed: 'refused', txsPerBlock: 8, accounts: 30 });
  plain.grow(10);
  const rich = String(plain.block(1)?.['generator']);
  const ids = Array.from({ length: 40 }, (_, i) => `asset${String(i).padStart(3, '0')}`);
  const chain: MadeChain = {
    ...plain,
    assets: (address) =>
      address === rich ? ids.map((assetId, i) => ({ assetId, balance: i + 1 })) : [],
  };
  const lists = { addresses: 3, assets: 7 };
  const node = await madeNode(t, () => chain, { instead: refusesLong(lists, chain) });
  const db = await open();
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(11, chain.signature(11));
  const held = await db.query<{ asset_id: string; amount: string }>(
    'SELECT asset_id, amount FROM balances WHERE address = $1 AND asset_id > $2 ORDER BY asset_id',
    [rich, ''],
  );
  t.strictSame(
    held,
    ids.map((asset_id, i) => ({ asset_id, amount: String(i + 1) })),
    'in pages',
  );

  const verified = await compared(db, readerOf(t, node.url));
  t.strictSame({ left: verified.left, different: verified.different }, { left: 0, different: [] });

  // What is refused altogether is left, and everything else goes on.
  lists.assets = 0;
  plain.grow(10);
  await until(async () => {
    const rows = await db.query<{ address: string }>('SELECT address FROM balance_dirty');
    const [tip] = await db.query<{ height: number }>('SELECT max(height) AS height FROM blocks');
    return tip?.height === 21 && rows.length === 1 && rows[0]?.address === rich;
  });
  t.match(crawler.log.of('crawl.balances-failed'), [{ address: rich }]);
  t.strictSame(crawler.log.of('crawl.failed'), [], 'the crawl has not failed');
});

await onBothStores(t, 'balances that one answer does not hold', async (t, open) => {
  const plain = madeChain({ seed: 'halved', txsPerBlock: 8, accounts: 30 });
  plain.grow(10);
  const rich = String(plain.block(1)?.['generator']);
  const chain: MadeChain = {
    ...plain,
    assets: (address) =>
      Array.from({ length: address === rich ? 40 : 2 }, (_, i) => ({
        assetId: `asset${String(i).padStart(3, '0')}`,
        balance: i + 1,
      })),
  };
  const unlimited = { addresses: Infinity, assets: Infinity };
  const lists = { ...unlimited };
  const node = await madeNode(t, () => chain, { instead: refusesLong(lists, chain) });
  const db = await open();
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(11, chain.signature(11));
  await crawler.stop();
  const held = () => db.query('SELECT * FROM balances ORDER BY address, asset_id');
  const before = await held();
  for (const limits of [{ addresses: 3 }, { assets: 7 }]) {
    Object.assign(lists, unlimited, limits);
    await db.exec(`DELETE FROM balances; INSERT INTO balance_dirty SELECT address, 11 FROM users`);
    const log = memoryLog();
    const refresh = balanceRefresher({ db, clock, log });
    const name = JSON.stringify(limits);
    t.equal(
      await refresh({ node: readerOf(t, node.url), nodes: 1, assertLocked() {} }),
      true,
      name,
    );
    t.strictSame(await held(), before, name);
    t.strictSame(await db.query('SELECT * FROM balance_dirty'), [], name);
    t.strictSame(log.of('crawl.balances-failed'), [], name);
  }
});

/** Answers of a chain without what they say about an address. */
const leavingOut = (
  address: string,
  chain: MadeChain,
  leaves: { coins: boolean; assets: boolean },
): NonNullable<MadeNodeOptions['instead']> => {
  const others = (body: string): string[] =>
    (JSON.parse(body) as { addresses: string[] }).addresses.filter((one) => one !== address);
  return (path, body) => {
    if (leaves.coins && path === '/addresses/balance/details') {
      return json(others(body).map((one) => ({ address: one, regular: chain.balance(one) })));
    }
    if (leaves.assets && path === '/assets/balance') {
      return json(Object.fromEntries(others(body).map((one) => [one, []])));
    }
    const isAsked = leaves.assets && path.startsWith(`/assets/balance/${address}`);
    return isAsked ? json({ address }) : undefined;
  };
};

await onBothStores(t, 'a node that leaves an address out', async (t, open) => {
  const plain = madeChain({ seed: 'left out', txsPerBlock: 4, accounts: 10 });
  plain.grow(9);
  const rich = String(plain.block(1)?.['generator']);
  const assetId = 'asset';
  const chain: MadeChain = {
    ...plain,
    balance: (address) => (address === rich ? plain.height() : plain.balance(address)),
    assets: (address) => (address === rich ? [{ assetId, balance: plain.height() }] : []),
  };
  const leaves = { coins: false, assets: false };
  const partial = await madeNode(t, () => chain, { instead: leavingOut(rich, chain, leaves) });
  const db = await open();
  const held = () =>
    db.query('SELECT asset_id, amount FROM balances WHERE address = $1 ORDER BY asset_id', [rich]);
  const both = (amount: string) => [
    { asset_id: '', amount },
    { asset_id: assetId, amount },
  ];
  const first = crawl(t, db, [partial.url]);
  await first.reached(10, chain.signature(10));
  t.strictSame(await held(), both('10'));
  await first.stop();

  for (const left of [{ coins: true }, { assets: true }]) {
    Object.assign(leaves, { coins: false, assets: false }, left);
    plain.grow(8);
    const alone = crawl(t, db, [partial.url]);
    await until(async () => {
      // In this order: an earlier mark of it must not pass for the only one of the last block.
      const [tip] = await db.query<{ height: number }>('SELECT max(height) AS height FROM blocks');
      const marked = await db.query<{ address: string }>('SELECT address FROM balance_dirty');
      return tip?.height === plain.height() && marked.length === 1 && marked[0]?.address === rich;
    });
    t.match(alone.log.of('crawl.balances-failed')[0], { address: rich });
    t.strictSame(await held(), both('10'), 'it keeps the balances that it had');
    await alone.stop();
  }

  for (const left of [{ coins: true }, { assets: true }]) {
    Object.assign(leaves, { coins: false, assets: false }, left);
    const whole = await madeNode(t, () => chain);
    const crawler = crawl(t, db, [partial.url, whole.url]);
    plain.grow(8);
    await crawler.reached(plain.height(), chain.signature(plain.height()));
    t.strictSame(await held(), both(String(plain.height())), 'another node tells them');
    await crawler.stop();
  }
});

t.test('a mark above the last block of the node is no work to do at once', async (t) => {
  const chain = madeChain({ seed: 'above', txsPerBlock: 4, accounts: 10 });
  chain.grow(5);
  const node = await madeNode(t, () => chain);
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(6, chain.signature(6));
  await crawler.stop();
  const marked = String(chain.block(1)?.['generator']);
  const refresh = balanceRefresher({ db, clock, log: memoryLog() });
  const pass = { node: readerOf(t, node.url), nodes: 1, assertLocked() {} };
  const mark = (height: number) =>
    db.query('INSERT INTO balance_dirty VALUES ($1, $2)', [marked, height]);
  await mark(6);
  t.equal(await refresh(pass), true);
  await mark(7);
  t.equal(await refresh(pass), false);
  chain.grow(1);
  t.equal(await refresh(pass), true);
});

await onBothStores(t, 'a node that gives no balances', async (t, open) => {
  const chain = madeChain({ seed: 'no balances', txsPerBlock: 4, accounts: 10 });
  chain.grow(5);
  const away = { status: 500, type: 'application/json', body: '{}' };
  const node = await madeNode(t, () => chain, {
    instead: (path) => (path.includes('balance') ? away : undefined),
  });
  const db = await open();
  const crawler = crawl(t, db, [node.url]);
  await until(async () => crawler.state.height === 6);
  chain.grow(5);
  await until(async () => crawler.state.height === 11);
  t.strictSame(crawler.log.of('crawl.failed'), []);
  t.ok(crawler.log.of('crawl.balances-failed').length > 0);
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
