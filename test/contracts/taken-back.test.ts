// Contract transactions of blocks that are taken back.
import t, { type Test } from 'tap';
import { roundLimits } from '../../src/base/limits/round-limits.ts';
import { findTransaction } from '../../src/chain/store/stored-blocks.ts';
import { base58 } from '../../src/codec/text.ts';
import { contractOf, executedBy } from '../../src/ledger/contracts.ts';
import { REFUSALS_MAX } from '../../src/mempool/admission/evictions.ts';
import type { NodePorts } from '../../src/node/node-ports.ts';
import { membersOf } from '../../src/tx/members.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import type { WholeNode } from '../node/in-process.ts';
import type { Program } from '../simulated/containers.ts';
import { callOf, extra, groupOf, transferOf, updateOf } from './atomic-groups.ts';
import { add, type ContractNodeOptions, contractNode, sum } from './contract-node.ts';

/** A chain whose calls, and the end of their contract, are each older than the one before. */
async function againstTheirTimes(
  t: Test,
  programs: Readonly<Record<string, Program>> = {},
  options: ContractNodeOptions = {},
) {
  const node = await contractNode(t, { ...programs, sum }, options);
  const { at, owner } = node;
  const contract = await node.created('sum');
  const contractId = base58.encode(contract.id);
  const others: Tx[] = [];
  for (const image of Object.keys(programs)) others.push(await node.created(image));
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
  return { node, contract, others, txs: [call, later, end] };
}

async function minedIds(at: WholeNode): Promise<readonly string[]> {
  const mined = [];
  for (let i = 0; i < 8 && at.node.pool.size() > 0; i++) mined.push(...(await at.mine()));
  return mined.map((tx) => base58.encode((tx.def.inner?.(tx) ?? tx).id));
}

const idsOf = (txs: readonly Tx[]): readonly string[] => txs.map(({ id }) => base58.encode(id));

t.test('they are executed in the order of their chain, whatever their times say', async (t) => {
  const { node, contract, txs } = await againstTheirTimes(t);
  t.strictSame(await minedIds(node.at), idsOf(txs));
  t.strictSame(node.state(contract), { sum: 6n });
  for (const { id } of txs) t.equal(node.at.node.pool.dropped(id), undefined);
});

t.test('and also where the node restarts before they are mined again', async (t) => {
  const { node, contract, txs } = await againstTheirTimes(t);
  const again = await node.at.restart();
  t.strictSame(await minedIds(again), idsOf(txs));
  for (const { id } of txs) t.equal(again.node.pool.dropped(id), undefined);
  const { view } = again.node.blockchain;
  t.equal(contractOf(view, contract.id)?.active, false);
});

t.test('and also where they come back while the node makes a block', async (t) => {
  let isHeld = false;
  const gate = Promise.withResolvers<void>();
  const opening: Program = async (execution, wait) => {
    if (isHeld) {
      gate.resolve();
      for (let i = 0; i < 10; i++) await wait(10);
    }
    return sum(execution, wait);
  };
  const around = (ports: NodePorts): NodePorts => ({
    ...ports,
    verifier: {
      ...ports.verifier,
      async verify(items) {
        if (isHeld) await gate.promise;
        return ports.verifier.verify(items);
      },
    },
  });
  const { node, contract, txs, others } = await againstTheirTimes(t, { opening }, { around });
  const [opener] = others;
  isHeld = true;
  const again = await node.at.restart();
  await again.node.pool.whenRead();
  const [, other] = again.accounts;
  const contractId = base58.encode(opener!.id);
  await again.send(other, { type: 104, contractId, params: [] });
  t.equal(again.node.pool.inOrder().length, 1);
  const ids = await minedIds(again);
  t.strictSame(ids.slice(1), idsOf(txs));
  for (const { id } of txs) t.equal(again.node.pool.dropped(id), undefined);
  t.equal(contractOf(again.node.blockchain.view, contract.id)?.active, false);
});

t.test(
  'a call that gives way to others does not give way to the end of its contract',
  async (t) => {
    const moody: Program = (execution, wait) =>
      execution.transaction.params.some(({ key }) => key === 'bad')
        ? { kind: 'error', code: 2, message: 'refused' }
        : sum(execution, wait);
    const node = await contractNode(t, { sum: moody });
    const { at, owner } = node;
    const contract = await node.created('sum');
    const { blockchain, pool } = at.node;
    const before = blockchain.tip().height;
    const call = await node.call(contract, add(5));
    await at.mine();
    // The next calls of the sender give way from now on.
    await node.call(contract, { params: [{ key: 'bad', type: 'boolean', value: true }] });
    await at.mine();
    await at.send(owner, { type: 106, contractId: base58.encode(contract.id) });
    await at.mine();
    t.equal(node.isActive(contract), false);
    await at.mine();
    await blockchain.rollback(before);
    await pool.readmitted();
    for (let i = 0; i < 8 && pool.size() > 0; i++) await at.mine();
    t.equal(pool.dropped(call.id), undefined);
    t.strictSame(node.state(contract), { sum: 5n });
    t.equal(node.isActive(contract), false);
  },
);

/** Its creations fail for as long as the test says. */
function failing() {
  const state = { fails: false };
  const program: Program = (execution, wait) =>
    state.fails && execution.transaction.data.kind === 'create'
      ? { kind: 'error', code: 1, message: 'later' }
      : sum(execution, wait);
  return { state, program };
}

t.test('what builds on a creation waits where that comes back and fails for a while', async (t) => {
  const { state, program } = failing();
  const node = await contractNode(t, { sum: program });
  const { at, owner } = node;
  const { blockchain, pool } = at.node;
  const before = blockchain.tip().height;
  const contract = await node.created('sum');
  const contractId = base58.encode(contract.id);
  const call = await node.call(contract, add(5));
  await at.mine();
  const group = groupOf(node, [callOf(node, contract, add(1)), callOf(node, contract, add(2))]);
  await pool.submit(group);
  await at.mine();
  const end = await at.send(owner, { type: 106, version: 2, contractId });
  await at.mine();
  t.strictSame(node.state(contract), { sum: 8n });
  await at.mine();
  await blockchain.rollback(before);
  await pool.readmitted();
  state.fails = true;
  for (let i = 0; i < 7; i++) await at.mine();
  for (const tx of [contract, call, group, end]) t.ok(pool.get(tx.id), tx.def.name);
  state.fails = false;
  for (let i = 0; i < 15 && pool.size() > 0; i++) await at.mine();
  t.strictSame(node.state(contract), { sum: 8n });
  t.equal(node.isActive(contract), false);
});

for (const isAtomic of [false, true]) {
  const kind = isAtomic ? 'an atomic transaction with the end' : 'the end';
  t.test(
    `${kind} of a contract waits with the calls before it while the engine is away`,
    async (t) => {
      const node = await contractNode(t, { sum });
      const { at, owner } = node;
      const { blockchain, pool } = at.node;
      const contract = await node.created('sum');
      const other = await node.created('sum');
      const before = blockchain.tip().height;
      const call = await node.call(contract, add(5));
      await at.mine();
      const fields = { type: 106, version: 3, contractId: base58.encode(contract.id), ...extra };
      const member = at.make(owner, fields);
      const end = isAtomic
        ? groupOf(node, [member, transferOf(node, owner, 1n)])
        : at.make(owner, { type: 106, contractId: fields.contractId });
      await pool.submit(end);
      const plain = await at.send(owner, { type: 106, contractId: base58.encode(other.id) });
      await at.mine();
      t.strictSame([node.isActive(contract), node.isActive(other)], [false, false]);
      await at.mine();
      await blockchain.rollback(before);
      await pool.readmitted();
      node.containers.setProblem('it has gone');
      for (let i = 0; i < REFUSALS_MAX + 1; i++) await at.mine();
      t.strictSame([node.isActive(contract), pool.size()], [true, 2]);
      t.equal(node.isActive(other), false, 'no call of it waits');
      t.ok(pool.get(call.id));
      t.equal(pool.dropped(plain.id), undefined);
      node.containers.setProblem(undefined);
      for (let i = 0; i < 8 && pool.size() > 0; i++) await at.mine();
      t.strictSame(node.state(contract), { sum: 5n });
      t.equal(node.isActive(contract), false);
    },
  );
}

t.test('what builds on a creation leaves behind it', async (t) => {
  const { state, program } = failing();
  const node = await contractNode(t, { sum: program });
  const { at } = node;
  const { blockchain, pool } = at.node;
  const before = blockchain.tip().height;
  const contract = await node.created('sum');
  const call = await node.call(contract, add(5));
  await at.mine();
  await at.mine();
  await blockchain.rollback(before);
  await pool.readmitted();
  state.fails = true;
  const attempts = roundLimits.attempts.value * REFUSALS_MAX;
  for (let i = 0; i < 10 * attempts && pool.get(contract.id) !== undefined; i++) await at.mine();
  t.match(pool.dropped(contract.id), /has failed too often/);
  for (let i = 0; i < REFUSALS_MAX; i++) await at.mine();
  t.not(pool.dropped(call.id), undefined);
  t.equal(pool.size(), 0);
});

t.test(
  'an update in an atomic transaction comes behind the calls of the version before it',
  async (t) => {
    const node = await contractNode(t, { sum, next: sum });
    const { at } = node;
    const { blockchain, pool } = at.node;
    const contract = await node.created('sum');
    const before = blockchain.tip().height;
    const calls = [await node.call(contract, add(1))];
    await at.mine();
    calls.push(await node.call(contract, add(2)));
    await at.mine();
    const update = updateOf(node, contract, 'next');
    const group = groupOf(node, [
      update,
      callOf(node, contract, { ...add(4), contractVersion: 2 }),
    ]);
    await pool.submit(group);
    for (let i = 0; i < 4 && pool.size() > 0; i++) await at.mine();
    const second = await node.call(contract, { ...add(8), version: 2, contractVersion: 2 });
    for (let i = 0; i < 4 && pool.size() > 0; i++) await at.mine();
    t.strictSame(node.state(contract), { sum: 15n });
    await at.mine();
    await blockchain.rollback(before);
    await pool.readmitted();
    for (let i = 0; i < 10 && pool.size() > 0; i++) await at.mine();
    const heights = [...calls, group, second].map((tx) => {
      const by = executedBy(blockchain.view, (membersOf(tx)[0] ?? tx).id);
      const found = by && findTransaction(blockchain.view, by);
      return (found?.height ?? 0) - before;
    });
    t.strictSame(node.state(contract), { sum: 15n });
    t.strictSame(heights, [1, 1, 2, 2]);
  },
);
