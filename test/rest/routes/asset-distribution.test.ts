/** The holders of an asset at a past height, page by page, on a whole node. */

import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { inOneGo } from '../../../src/concurrency/steps.ts';
import { holdersOf } from '../../../src/ledger/assets.ts';
import { pageAt } from '../../../src/rest/routes/asset-distribution.ts';
import { type Account, wholeNode } from '../../node/in-process.ts';

t.test('the distribution of an asset at past heights', async (t) => {
  const whole = await wholeNode(t);
  const { accounts, node } = whole;
  const [owner, ...others] = accounts;
  const { view } = node.blockchain;
  const gold = { name: 'Gold', description: '', quantity: 100, decimals: 0, reissuable: true };
  const { id } = await whole.send(owner, { type: 3, version: 2, ...gold, script: null });
  const assetId = base58.encode(id);
  const text = (address: Uint8Array): string => whole.scheme.addressToText(address);

  /** What was true then, written down when it was. */
  const seen = new Map<number, Readonly<Record<string, bigint>>>();
  async function mine(): Promise<void> {
    await whole.mine();
    const now = Array.from(holdersOf(view, id, 100), ([of, amount]) => [text(of), amount] as const);
    seen.set(node.blockchain.tip().height, Object.fromEntries(now));
  }
  const give = (from: Account, to: Account, amount: number) =>
    whole.send(from, { ...transferOf(to, amount), assetId });
  const transferOf = (to: Account, amount: number) => ({
    type: 4,
    version: 2,
    recipient: to.text,
    amount,
    attachment: '',
  });

  await mine();
  for (const other of others) await give(owner, other, 10);
  await mine();
  await give(others[0]!, others[1]!, 10);
  await mine();
  await whole.send(owner, { type: 6, version: 2, assetId, amount: 60 });
  await mine();
  await give(others[2]!, owner, 3);
  await mine();
  await mine();

  for (const [height, then] of seen) {
    for (const limit of [1, 2, 100]) {
      const found: Record<string, bigint> = {};
      let after: Uint8Array | undefined;
      for (let more = true; more; ) {
        const page = inOneGo(pageAt(view, id, height, limit, after));
        const items = [...page.items];
        t.ok(items.length <= limit);
        for (const [of, amount] of items) found[text(of)] = amount;
        more = page.hasNext;
        after = page.last;
      }
      t.strictSame(found, then, `height ${height} by ${limit}`);
    }
  }
  t.strictSame([...inOneGo(pageAt(view, id, 1, 10)).items], [], 'before its issue');
  t.strictSame([...inOneGo(pageAt(view, new Uint8Array(32), 3, 10)).items], []);
});
