/** The transactions of a block, and the assets of an address, part by part as in one piece. */
import t from 'tap';
import { transactionBytesAt } from '../../../src/chain/store/stored-blocks.ts';
import { assetsOf } from '../../../src/ledger/assets.ts';
import { wholeNode } from '../../node/in-process.ts';

t.test('parts of a block and of the assets of an address', async (t) => {
  const whole = await wholeNode(t);
  const [owner] = whole.accounts;
  const { blockchain } = whole.node;
  const of = { description: '', quantity: 100, decimals: 0, reissuable: true, script: null };
  for (let i = 0; i < 5; i++) {
    await whole.send(owner, { type: 3, version: 2, name: `Asset ${i}`, ...of });
  }
  await whole.mine();
  const { view } = blockchain;
  const { height } = blockchain.tip();
  const all = [...transactionBytesAt(view, height)];
  t.ok(all.length >= 5);
  for (const limit of [1, 2, 3, 100]) {
    const found: Uint8Array[] = [];
    for (let part = [...all]; part.length > 0; found.push(...part)) {
      part = [...transactionBytesAt(view, height, { offset: found.length, limit })];
      t.ok(part.length <= limit);
    }
    t.strictSame(found, all, `transactions by ${limit}`);
  }
  t.strictSame([...transactionBytesAt(view, height, { offset: 70_000, limit: 1 })], []);

  const assets = [...assetsOf(view, owner.address, 100)];
  t.equal(assets.length, 5);
  const paged: typeof assets = [];
  for (let page = assets; page.length > 0; paged.push(...page)) {
    page = [...assetsOf(view, owner.address, 2, paged.at(-1)?.[0])];
  }
  t.strictSame(paged, assets);
});
