/** Contracts inside atomic transactions, on a whole node whose contracts are functions. */
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { findTransaction } from '../../src/chain/store/stored-blocks.ts';
import { executedBy } from '../../src/ledger/contracts.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import { membersOf } from '../../src/tx/members.ts';
import { feature, presetFeatures } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { ROUND_MS } from '../node/in-process.ts';
import { hashOfImage, integer, type Program, success } from '../simulated/containers.ts';
import { callOf, creationOf, extra, groupOf, inPool, transferOf, types } from './atomic-groups.ts';
import { add, type ContractNode, contractNode, sum } from './contract-node.ts';

const SUCCESS = 'Success null Contract transaction successfully mined';
const FEE = 1_000_000n;

/** Says what the balance of an account is. */
const balanceProgram =
  (of: () => string): Program =>
  ({ transaction, reads }) =>
    transaction.data.kind === 'create'
      ? success()
      : success(integer('balance', reads.balance(of(), undefined).amount));

t.test('each contract runs on what those before it leave', async (t) => {
  let poor = '';
  const node = await contractNode(t, { sum, balance: balanceProgram(() => poor) });
  const { at, owner } = node;
  const somebody = at.newAccount('somebody without funds');
  poor = somebody.text;
  const counter = await node.created('sum');
  const balances = await node.created('balance');
  const before = at.balance(owner);
  const members = [
    callOf(node, counter, add(5)),
    transferOf(node, somebody, 7n * FEE),
    callOf(node, balances),
    callOf(node, counter, add(6)),
  ];
  const group = groupOf(node, members);
  await at.node.pool.submit(group);
  const block = await at.mine();
  t.strictSame(types(block), [120]);
  const [mined] = block;
  t.strictSame(mined!.id, group.id, 'the results do not change the id');
  t.strictSame(
    membersOf(mined!).map(({ type }) => type),
    [105, 4, 105, 105],
  );
  t.strictSame(node.state(counter), { sum: 11n });
  t.strictSame(node.state(balances), { balance: 7n * FEE });
  t.equal(at.balance(owner), before - 7n * FEE, 'it gets back what it pays as the generator');
  t.equal(inPool(node, group), false);
  const { view } = at.node.blockchain;
  for (const [i, member] of members.entries()) {
    const inBlock = membersOf(mined!)[i]!;
    t.strictSame(findTransaction(view, inBlock.id)?.tx.id, inBlock.id);
    if (member.type !== 104) continue;
    t.strictSame(executedBy(view, member.id), inBlock.id);
    t.strictSame(node.statuses(member), [SUCCESS]);
  }
  const json = txToJson(mined!, at.scheme);
  t.strictSame(
    txFromJson(json, at.scheme).bytes,
    mined!.bytes,
    'JSON says all that the block says',
  );
  t.match(await at.refusal(group), { code: 112 });
  t.match(await at.refusal(groupOf(node, [members[0]!, transferOf(node, somebody, 1n)])), {
    message: /already executed/,
  });
});

t.test('a contract that the same group creates, calls, changes and ends', async (t) => {
  const node = await contractNode(t, { sum, other: sum });
  const { at, owner } = node;
  await node.created('other');
  await node.created('sum');
  const made = creationOf(node, 'sum', add(2));
  const contractId = base58.encode(made.id);
  const group = groupOf(node, [
    made,
    callOf(node, made, add(3)),
    at.make(owner, {
      ...{ type: 107, version: 3, contractId, image: 'other', imageHash: hashOfImage('other') },
      ...extra,
    }),
    callOf(node, made, { ...add(4), contractVersion: 2 }),
    at.make(owner, { type: 106, version: 3, contractId, ...extra }),
  ]);
  await at.node.pool.submit(group);
  const block = await at.mine();
  t.strictSame(types(block), [120]);
  t.strictSame(
    membersOf(block[0]!).map(({ type }) => type),
    [105, 105, 105, 105, 106],
  );
  t.strictSame(node.state(made), { sum: 9n });
  t.equal(node.isActive(made), false);
});

t.test('a contract that fails takes the whole group with it', async (t) => {
  const refusing: Program = ({ transaction }) =>
    transaction.data.kind === 'create'
      ? success()
      : { kind: 'error', code: Number(transaction.params[0]!.value), message: 'no' };
  const node = await contractNode(t, { sum, refusing });
  const { at } = node;
  const [, , somebody] = at.accounts;
  const counter = await node.created('sum');
  const bad = await node.created('refusing');
  const before = at.balance(somebody);
  const first = callOf(node, counter, add(5));
  const failing = callOf(node, bad, add(2));
  const group = groupOf(node, [first, transferOf(node, somebody, FEE), failing]);
  await at.node.pool.submit(group);
  const alone = await node.call(counter, add(1));
  t.strictSame(node.executed(await at.mine()), [base58.encode(alone.id)], 'others are executed');
  t.strictSame(node.state(counter), { sum: 1n });
  t.equal(at.balance(somebody), before);
  t.equal(inPool(node, group), false);
  t.strictSame(node.statuses(failing), ['Error 2 no']);
  const blamed = /The transaction '.*' of the same atomic one has failed in the contract '.*': no$/;
  const [ofGroup] = node.statuses(group);
  t.match(ofGroup, /^Error 2 /, 'others drop the group by this one');
  t.match(ofGroup, blamed);
  const [ofFirst] = node.statuses(first);
  t.match(ofFirst, /^Failure 4 /, 'a code, so that it is no refusal of a good member');
  t.match(ofFirst, blamed);

  const later = groupOf(node, [callOf(node, counter, add(5)), callOf(node, bad, add(1))]);
  await at.node.pool.submit(later);
  t.strictSame(types(await at.mine()), []);
  t.equal(inPool(node, later), true, 'code 1 means that it may succeed later');
  for (let i = 0; i < 40 && inPool(node, later); i++) await at.mine();
  t.equal(inPool(node, later), false, 'but not for ever');
  t.strictSame(node.state(counter), { sum: 1n });
});

t.test('a contract whose results break a rule takes the whole group with it', async (t) => {
  const twice = success(integer('a', 1n), integer('a', 2n));
  const node = await contractNode(t, {
    sum,
    wrong: ({ transaction }) => (transaction.data.kind === 'create' ? success() : twice),
  });
  const { at } = node;
  const counter = await node.created('sum');
  const bad = await node.created('wrong');
  const first = callOf(node, counter, add(5));
  const failing = callOf(node, bad);
  const group = groupOf(node, [first, failing]);
  await at.node.pool.submit(group);
  t.strictSame(types(await at.mine()), []);
  t.equal(inPool(node, group), false);
  const why = 'Results with duplicate keys were found';
  t.strictSame(node.statuses(failing), [`Failure null ${why}`], 'as that of a single call');
  const blamed = `The transaction '${base58.encode(failing.id)}' of the same atomic one has failed`;
  t.match(node.statuses(group), [new RegExp(`^Failure null ${blamed}.*: ${why}$`)]);
  t.match(node.statuses(first), [new RegExp(`^Failure 4 ${blamed}.*: ${why}$`)]);
});

t.test('a member that a rule refuses after a contract has run', async (t) => {
  const node = await contractNode(t, { sum });
  const { at, owner } = node;
  const counter = await node.created('sum');
  const rich = transferOf(node, at.accounts[1], at.balance(owner) - 1n);
  const group = groupOf(node, [callOf(node, counter, add(5)), rich]);
  t.match(await at.refusal(group), { message: /unavailable funds/ });
});

t.test('a slow contract: the block is made without the group', async (t) => {
  let isSlow = true;
  const slow: Program = (execution, wait) =>
    execution.transaction.data.kind === 'create' || !isSlow
      ? sum(execution, wait)
      : new Promise(() => {});
  const node = await contractNode(t, { sum, slow });
  const { at } = node;
  const counter = await node.created('sum');
  const late = await node.created('slow');
  const group = groupOf(node, [callOf(node, counter, add(5)), callOf(node, late, add(1))]);
  await at.node.pool.submit(group);
  const alone = await node.call(counter, add(1));
  t.strictSame(node.executed(await at.mine()), [base58.encode(alone.id)]);
  t.strictSame(node.state(counter), { sum: 1n });
  t.equal(inPool(node, group), true);
  t.match(node.statuses(membersOf(group)[1]!), [/^Failure 1 .*execution timeout/]);
  isSlow = false;
  for (let i = 0; i < 20 && inPool(node, group); i++) await at.mine();
  t.strictSame(node.state(counter), { sum: 6n }, 'it is executed later');
});

t.test('a container that is not ready holds up nothing', async (t) => {
  const node = await contractNode(t, { sum, cold: sum });
  const { at } = node;
  const counter = await node.created('sum');
  const made = creationOf(node, 'cold', add(2));
  const group = groupOf(node, [callOf(node, counter, add(5)), made, callOf(node, made, add(3))]);
  await at.node.pool.submit(group);
  t.strictSame(types(await at.mine()), []);
  for (let i = 0; i < 3 && inPool(node, group); i++) await at.mine();
  t.strictSame(node.state(made), { sum: 5n });
  t.strictSame(node.state(counter), { sum: 5n });
});

t.test('a block that is taken back returns the group as it was sent', async (t) => {
  const node = await contractNode(t, { sum });
  const { at } = node;
  const counter = await node.created('sum');
  const group = groupOf(node, [callOf(node, counter, add(5)), callOf(node, counter, add(6))]);
  await at.node.pool.submit(group);
  const [mined] = await at.mine();
  const { blockchain, pool } = at.node;
  await blockchain.rollback(blockchain.tip().height - 1);
  await pool.readmitted();
  t.strictSame(node.state(counter), { sum: 0n });
  t.strictSame(pool.get(group.id)?.bytes, group.bytes);
  t.equal(findTransaction(blockchain.view, membersOf(mined!)[0]!.id), undefined);
  await at.mine();
  t.strictSame(node.state(counter), { sum: 11n });
});

t.test('without the feature nothing has changed', async (t) => {
  const node = await contractNode(
    t,
    { sum },
    {
      features: [...presetFeatures, feature.sponsoredFees, feature.atomic],
    },
  );
  const counter = await node.created('sum');
  const group = groupOf(node, [callOf(node, counter, add(5)), callOf(node, counter, add(6))]);
  t.match(await node.at.refusal(group), {
    code: 199,
    message: /runs no contracts inside atomic transactions/,
  });
});

/** The block of the next turn has its time, and waits for another job of the chain until it is released. */
async function heldTurn({ at }: ContractNode): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = at.node.blockchain.exclusive(() => promise);
  await at.clock.advance(TURN_MS);
  return async () => {
    resolve();
    await held;
    await at.clock.advance(1);
    await at.node.blockchain.idle();
  };
}

const TURN_MS = ROUND_MS / 10;
const GIVEN = ['contract_developer', 'connection_manager'] as const;

const giving = (node: ContractNode, role: string, more: object): Tx => {
  const [owner, developer] = node.at.accounts;
  const target = developer.text;
  return node.at.make(owner, {
    ...{ type: 102, target, opType: 'add', role, dueTimestamp: null },
    ...more,
  });
};

const registering = ({ at }: ContractNode, more: object): Tx => {
  const target = base58.encode(at.newAccount('a node').publicKey);
  const fields = { type: 111, targetPubKey: target, nodeName: 'a node', opType: 'add', ...more };
  return at.make(at.accounts[1], fields);
};

t.test('a role that is given in a group after the beginning of the block in work', async (t) => {
  const node = await contractNode(t, { sum });
  const [, developer] = node.at.accounts;
  const { pool } = node.at.node;
  await node.created('sum');
  const release = await heldTurn(node);
  const trusting = { version: 2, atomicBadge: { trustedSender: developer.text } };
  const [first, second] = GIVEN.map((role) => giving(node, role, trusting)) as [Tx, Tx];
  const badge = { version: 2, atomicBadge: { trustedSender: null } };
  const groups = [
    groupOf(node, [first, creationOf(node, 'sum', {}, developer)], {}, developer),
    groupOf(node, [second, registering(node, badge)], {}, developer),
  ];
  for (const group of groups) await pool.submit(group);
  await release();
  t.strictSame(
    groups.map(({ id }) => pool.dropped(id)),
    [undefined, undefined],
  );
  t.strictSame(types(await node.at.mine()), [120, 120]);
});

t.test('a role that begins after the beginning of the block in work', async (t) => {
  const node = await contractNode(t, { sum });
  const { at } = node;
  const { pool } = at.node;
  await node.created('sum');
  const timestamp = at.clock.now() + ROUND_MS + TURN_MS;
  for (const role of GIVEN) await pool.submit(giving(node, role, { timestamp }));
  t.strictSame(types(await at.mine()), [102, 102]);
  const release = await heldTurn(node);
  t.equal(at.clock.now(), timestamp);
  const waiting = [
    creationOf(
      node,
      'sum',
      { version: 1, feeAssetId: undefined, atomicBadge: undefined },
      at.accounts[1],
    ),
    registering(node, {}),
  ];
  for (const tx of waiting) await pool.submit(tx);
  await release();
  t.strictSame(
    waiting.map(({ id }) => pool.dropped(id)),
    [undefined, undefined],
  );
  t.strictSame(types(await at.mine()), [111, 105]);
});
