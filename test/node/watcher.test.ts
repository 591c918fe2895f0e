import t from 'tap';
import { wholeNode } from './in-process.ts';

t.test('scenario 107: a watcher takes no transactions from clients', async (t) => {
  const { node, accounts, transfer, clock } = await wholeNode(t, { set: ['network.mode=watcher'] });
  const [owner, other] = accounts;
  await t.rejects(node.services.pool.submit(transfer(owner, other, 1)), {
    code: 199,
    message: 'Sending transactions, since it is a watcher, is not available on this node',
  });
  await clock.advance(60_000);
  t.equal(node.blockchain.tip().height, 1, 'and makes no block');
});
