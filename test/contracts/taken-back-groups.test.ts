// Atomic transactions with contracts of blocks that are taken back, among themselves and with single calls.
import t from 'tap';
import { base58 } from '../../src/codec/text.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { hashOfImage } from '../simulated/containers.ts';
import { badge, callOf, extra, groupOf, updateOf } from './atomic-groups.ts';
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

t.test('the end of a contract waits where the block takes the right to sign results', async (t) => {
  const node = await contractNode(t, { sum }, { set: ['miner.quorum=0'] });
  const { at, owner } = node;
  const { blockchain, pool } = at.node;
  const [, one, two, three] = at.accounts;
  const roles = ['permissioner', 'miner', 'connection_manager', 'blacklister'];
  for (const role of [...roles, 'contract_developer']) {
    const { text: target } = role === 'miner' ? three : one;
    await at.send(owner, { type: 102, target, opType: 'add', role });
  }
  for (let i = 0; i < 3; i++) await at.mine();
  const image = { image: 'sum', imageHash: hashOfImage('sum'), contractName: 'sum', params: [] };
  const contract = await at.send(one, { type: 103, ...image });
  for (let i = 0; i < 3; i++) await at.mine();
  const contractId = base58.encode(contract.id);
  const before = blockchain.tip().height;
  const call = await at.send(two, { type: 104, contractId, ...add(5) });
  await at.mine();
  const ends = at.make(one, { type: 106, version: 3, contractId, ...extra });
  const payment = { type: 4, version: 3, recipient: two.text, amount: 1n, attachment: '' };
  const end = groupOf(node, [ends, at.make(one, { ...payment, ...badge })], {}, one);
  await mined(node, end);
  t.equal(node.isActive(contract), false);
  await at.mine();
  await blockchain.rollback(before);
  await pool.readmitted();
  const ban = { type: 102, target: owner.text, opType: 'add', role: 'banned' };
  const { id } = await at.send(one, ban);
  await at.mine();
  t.equal(pool.get(id), undefined, 'it is in the block');
  t.ok(pool.get(call.id));
  t.ok(pool.get(end.id));
  t.equal(node.isActive(contract), true);
});
