// Texts of headers are kept, and must never be those of a block that a rollback has removed.

import t from 'tap';
import { headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { headerJson, headerText } from '../../src/rest/block-json.ts';
import { print } from '../../src/rest-framework/answer.ts';
import { newNetworkFeatures } from '../../src/tx/rules/features.ts';
import { wholeNode } from '../node/in-process.ts';

t.test('the text of a header is that of the block at its height', async (t) => {
  const features = newNetworkFeatures(false);
  const { node, accounts, transfer, mine } = await wholeNode(t, { features });
  const { blockchain, services } = node;
  const { view } = blockchain;
  const expected = (height: number) => {
    const row = headerRowAt(view, height);
    return row && print(headerJson({ height, ...row }, services));
  };
  await node.pool.submit(transfer(accounts[0], accounts[1], 1));
  await mine();
  const { height } = blockchain.tip();
  const first = headerText(height, services);
  t.equal(first, expected(height));
  t.equal(headerText(height, services), first);
  t.equal(headerText(height + 1, services), undefined);

  // The newest sealed block alone would come back as it was.
  await mine();
  await blockchain.rollback(height - 1);
  t.equal(headerText(height, services), undefined);
  await mine();
  t.not(headerText(height, services), first);
  t.equal(headerText(height, services), expected(height));
  t.notMatch(first, 'final', 'nobody votes on the blocks of this network');
});
