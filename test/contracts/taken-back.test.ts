// Contract transactions of blocks that are taken back.
import t from 'tap';
import { base58 } from '../../src/codec/text.ts';
import { add, contractNode, sum } from './contract-node.ts';

t.test('they are executed in the order of their chain, whatever their times say', async (t) => {
  const node = await contractNode(t, { sum });
  const { at, owner } = node;
  const contract = await node.created('sum');
  const contractId = base58.encode(contract.id);
  const { blockchain, pool } = at.node;
  const before = blockchain.tip().height;
  const time = at.clock.now();
  const call = await node.call(contract, { ...add(5), timestamp: time + 2 });
  await at.mine();
  const later = await node.call(contract, { ...add(1), timestamp: time + 1 });
  await at.mine();
  const end = await at.send(owner, { type: 106, version: 2, contractId, timestamp: time });
  await at.mine();
  t.equal(node.isActive(contract), false);
  await at.mine();
  await blockchain.rollback(before);
  await pool.readmitted();
  t.equal(node.isActive(contract), true);
  const executed = [];
  for (let i = 0; i < 8 && pool.size() > 0; i++) executed.push(...(await at.mine()));
  t.strictSame(
    executed.map((tx) => base58.encode((tx.def.inner?.(tx) ?? tx).id)),
    [call, later, end].map(({ id }) => base58.encode(id)),
  );
  t.strictSame(node.state(contract), { sum: 6n });
  t.equal(pool.dropped(call.id), undefined);
});
