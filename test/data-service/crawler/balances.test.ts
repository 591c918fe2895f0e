/** Balances of the store follow those of the node, on both stores (data-service.md#balances). */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { Database } from '../../../src/base/database.ts';
import { type NodeReader, nodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { sampleOf, verifyBalances } from '../../../src/data-service/crawler/verify-balances.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { onBothStores } from '../stores.ts';

const clock = systemClock(undefined);
/** Without pauses. */
const hasty = { after: (_ms: number, action: () => void) => clock.after(0, action) };

function readerOf(t: Test, url: string): NodeReader {
  const http = undiciClient();
  t.teardown(() => http.close());
  return nodeReader({ urls: [url] }, { http, clock, failed: () => {} });
}

const all = (db: Database) => sampleOf(db, Number.POSITIVE_INFINITY, () => 0);
const compared = (db: Database, node: NodeReader) => verifyBalances(db, node, hasty, all(db));

const ISSUER = '3MIssuerOfAnAssetThatPaysFees111111';
const PAYER = '3MPayerWhoPaysItsFeesInThatAsset111';
const ASSET = 'AssetThatPaysFees';
const ISSUED_AT = 3;

/** Blocks from `sponsored` on have a transaction whose fee a sponsor pays, who is no party of it. */
function sponsoredChain(seed: string, sponsored: number) {
  const plain = madeChain({ seed, txsPerBlock: 4, accounts: 10 });
  const tx = (height: number) => {
    const shared = { height, timestamp: height, fee: 5, proofs: [], version: 2 };
    if (height === ISSUED_AT) {
      const asset = { name: 'Fees', description: '', quantity: 100, decimals: 0, reissuable: true };
      return [{ ...shared, ...asset, id: ASSET, type: 3, sender: ISSUER }];
    }
    if (height < sponsored) return [];
    const id = `sponsored ${plain.signature(height)}`;
    return [{ ...shared, id, type: 10, alias: id, sender: PAYER, feeAssetId: ASSET }];
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

await onBothStores(t, 'the sponsor of a fee gets its new balances', async (t, open) => {
  const chain = sponsoredChain('sponsor', 12);
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
});
