// What a contract asks of the transactions of the block in which it runs.
import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { integer, success } from '../../simulated/containers.ts';
import { contractNode, sum } from '../contract-node.ts';

t.test('a run sees a transaction with what it has done, or neither', async (t) => {
  const asked = { id: '' };
  const seen: string[] = [];
  const node = await contractNode(t, {
    sum,
    async asking({ reads, transaction }, wait) {
      if (asked.id === '') return success();
      const isThere = reads.transactionExists(asked.id);
      await wait(500);
      const { amount } = reads.balance(transaction.sender, undefined);
      seen.push(`${isThere} ${amount}`);
      return success(integer('balance', amount));
    },
  });
  const { at, owner } = node;
  const ended = await node.created('sum');
  const asking = await node.created('asking');
  await node.call(asking);
  const end = at.make(owner, {
    ...{ type: 106, contractId: base58.encode(ended.id), timestamp: at.clock.now() + 1 },
  });
  asked.id = base58.encode(end.id);
  const before = at.balance(owner);
  await at.node.pool.submit(end);
  const block = await at.mine();
  t.strictSame(
    block.map(({ type }) => type),
    [106, 105],
  );
  t.strictSame(seen, [`false ${before - end.fee}`, `true ${before - end.fee}`]);
});
