// Atomic transactions with contracts of blocks that are taken back, among themselves and with single calls.
import t from 'tap';
import { base58 } from '../../src/codec/text.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { callOf, extra, groupOf, updateOf } from './atomic-groups.ts';
import { add, type ContractNode, contractNode, sum } from './contract-node.ts';

async function mined({ at }: ContractNode, group: Tx): Promise<void> {
  await at.node.pool.submit(group);
  for (let i = 0; i < 4 && at.node.pool.size() > 0; i++) await at.mine();
}

async function takenBack({ at }: ContractNode, height: number): Promise<void> {
  await at.mine();
  await at.node.blockchain.rollback(height);
  await at.node.pool.readmitted();
  for (let i = 0; i < 12 && at.node.pool.size() > 0; i++) await at.mine();
}

t.test('they keep the order of their chain, whoever has the next turn', async (t) => {
  const node = await contractNode(t, { sum, next: sum });
  const { at } = node;
  const [, other] = at.accounts;
  const contract = await node.created('sum');
  const second = await node.created('sum');
  const before = at.node.blockchain.tip().height;
  const callBy = (called: Tx, n: number) => callOf(node, called, add(n), other);
  const first = groupOf(node, [callBy(contract, 1), callBy(contract, 2)], {}, other);
  await mined(node, first);
  const update = groupOf(node, [updateOf(node, contract, 'next'), callOf(node, second, add(4))]);
  await mined(node, update);
  // The sender of the first one has had the last turn.
  await mined(node, groupOf(node, [callBy(second, 1), callBy(second, 2)], {}, other));
  t.strictSame([node.state(contract), node.state(second)], [{ sum: 3n }, { sum: 7n }]);
  await takenBack(node, before);
  t.equal(at.node.pool.dropped(first.id), undefined);
  t.strictSame([node.state(contract), node.state(second)], [{ sum: 3n }, { sum: 7n }]);
});

t.test('one that ends a contract comes behind the calls of it, whatever it calls', async (t) => {
  const node = await contractNode(t, { sum });
  const { at, owner } = node;
  const contract = await node.created('sum');
  const other = await node.created('sum');
  const before = at.node.blockchain.tip().height;
  const call = await node.call(contract, add(5));
  await at.mine();
  const end = { type: 106, version: 3, contractId: base58.encode(contract.id), ...extra };
  await mined(node, groupOf(node, [callOf(node, other, add(1)), at.make(owner, end)]));
  t.equal(node.isActive(contract), false);
  await takenBack(node, before);
  t.equal(at.node.pool.dropped(call.id), undefined);
  t.strictSame(node.state(contract), { sum: 5n });
  t.equal(node.isActive(contract), false);
});
