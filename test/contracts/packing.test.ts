import t from 'tap';
import { parse, stringify } from '../../src/base/json/json.ts';
import { base58 } from '../../src/codec/text.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { compiled } from '../generators/scripts.ts';
import { hashOfImage, integer, type Program, success } from '../simulated/containers.ts';
import { add, contractNode, sum } from './contract-node.ts';

const SUCCESS = 'Success null Contract transaction successfully mined';

t.test('scenario 79: a contract is created and called; the miner earns the fee', async (t) => {
  const { at, owner, create, call, state, statuses, executed, containers } = await contractNode(t, {
    sum,
  });
  const contract = await create('sum', add(3));
  t.equal(containers.containers, 1, 'its container starts as soon as the pool has it');
  t.same(executed(await at.mine()), [base58.encode(contract.id)]);
  t.same(state(contract), { sum: 3n });
  t.same(statuses(contract), [SUCCESS]);
  const called = await call(contract, add(4));
  const block = await at.mine();
  t.same(executed(block), [base58.encode(called.id)]);
  t.match(block, [{ type: 105, fee: 0n, sender: owner.address }]);
  t.same(state(contract), { sum: 7n });
  t.equal(at.node.pool.size(), 0);
});

t.test('scenario 84: calls in one block see each other, in the order of the pool', async (t) => {
  const seen: bigint[] = [];
  const { at, created, call, state, executed } = await contractNode(t, {
    async sum(execution, wait) {
      await wait(10);
      const outcome = await sum(execution, wait);
      seen.push(BigInt(execution.block.height));
      return outcome;
    },
  });
  const contract = await created('sum');
  const now = at.clock.now();
  const late = await call(contract, { ...add(100), timestamp: now + 1 });
  const early = await call(contract, { ...add(20), timestamp: now });
  const last = await call(contract, { ...add(3), timestamp: now + 2 });
  const block = await at.mine();
  t.same(
    executed(block),
    [early, late, last].map(({ id }) => base58.encode(id)),
  );
  t.same(state(contract), { sum: 123n });
  t.match(
    block.map(({ fields }) => fields['results']),
    [[integer('sum', 20n)], [integer('sum', 120n)], [integer('sum', 123n)]],
  );
});

t.test('what gets onto the disk while the block is made is in it once', async (t) => {
  const landing: (() => void)[] = [];
  let isSlow = false;
  const landed = (): Promise<void> =>
    isSlow ? new Promise((resolve) => landing.push(resolve)) : Promise.resolve();
  const { at, created, call, state, statuses, executed } = await contractNode(
    t,
    {
      async sum(execution, wait) {
        for (const land of landing.splice(0)) land();
        await wait(10);
        return sum(execution, wait);
      },
    },
    {
      around: (ports) => ({
        ...ports,
        journal: { ...ports.journal, append: (...of) => ports.journal.append(...of).then(landed) },
      }),
    },
  );
  const contract = await created('sum');
  isSlow = true;
  const calls = [call(contract, add(1)), call(contract, add(2)), call(contract, add(3))];
  while (landing.length < calls.length) await new Promise(setImmediate);
  const block = await at.mine();
  const sent = await Promise.all(calls);
  t.same(executed(block).toSorted(), sent.map(({ id }) => base58.encode(id)).toSorted());
  t.same(state(contract), { sum: 6n });
  for (const tx of sent) t.same(statuses(tx), [SUCCESS]);
  t.equal(at.node.pool.size(), 0);
});

t.test('contracts run beside each other, calls of one contract do not', async (t) => {
  let most = 0;
  const under = new Map<string, number>();
  const node = await contractNode(
    t,
    {
      async slow({ transaction: { contractId } }, wait) {
        const now = (under.get(contractId) ?? 0) + 1;
        under.set(contractId, now);
        most = Math.max(most, now);
        await wait(100);
        under.set(contractId, now - 1);
        return success();
      },
    },
    {
      set: [
        'docker-engine.contracts-parallelism=4',
        'docker-engine.max-concurrent-per-container=9',
      ],
    },
  );
  const contracts = [];
  for (let i = 0; i < 6; i++) contracts.push(await node.create('slow', { fee: 100_000_000 + i }));
  await node.at.mine();
  t.equal(node.containers.mostRunning, 4);
  for (const contract of contracts) {
    for (let i = 0; i < 3; i++) await node.call(contract, { fee: 10_000_000 + i });
  }
  t.equal((await node.at.mine()).length, 18);
  t.equal(node.containers.mostRunning, 4);
  t.equal(most, 1);
});

t.test('slow contracts of one creator take no place from those of another', async (t) => {
  const node = await contractNode(
    t,
    {
      sum,
      slow: ({ transaction: { data } }) =>
        data.kind === 'create' ? success() : new Promise(() => {}),
    },
    {
      set: [
        'docker-engine.contracts-parallelism=2',
        'docker-engine.max-concurrent-per-container=9',
      ],
    },
  );
  const { at, owner } = node;
  const [, other] = at.accounts;
  const role = { type: 102, target: other.text, opType: 'add', role: 'contract_developer' };
  await at.send(owner, role);
  await at.node.pool.submit(at.transfer(owner, other, 500_000_000));
  await at.mine();
  const slow = [];
  for (let i = 0; i < 4; i++) slow.push(await node.create('slow', { fee: 100_000_000 + i }));
  const mine = { type: 103, image: 'sum', imageHash: hashOfImage('sum'), contractName: 'x' };
  const good = await at.send(other, { ...mine, params: [] });
  await at.mine();
  await at.mine();
  for (const contract of slow) await node.call(contract);
  const called = await node.call(good, add(1));
  t.same(node.executed(await at.mine()), [base58.encode(called.id)]);
});

t.test('creators take turns at a container that they share', async (t) => {
  const begun: string[] = [];
  const node = await contractNode(t, {
    async shared({ transaction: { contractId, data } }, wait) {
      if (data.kind === 'create') return success();
      begun.push(contractId);
      await wait(10);
      return success();
    },
  });
  const { at, owner } = node;
  const [, other] = at.accounts;
  const role = { type: 102, target: other.text, opType: 'add', role: 'contract_developer' };
  await at.send(owner, role);
  await at.node.pool.submit(at.transfer(owner, other, 500_000_000));
  await at.mine();
  const many: Tx[] = [];
  for (let i = 0; i < 6; i++) many.push(await node.create('shared', { fee: 100_000_000 + i }));
  const mine = { type: 103, image: 'shared', imageHash: hashOfImage('shared'), contractName: 'x' };
  const one = await at.send(other, { ...mine, params: [] });
  await at.mine();
  await at.mine();
  for (const contract of [...many, one]) {
    for (let i = 0; i < 3; i++) await node.call(contract, { fee: 10_000_000 + i });
  }
  await at.mine();
  t.equal(begun.length, 21);
  const last = begun.lastIndexOf(base58.encode(one.id));
  t.ok(last <= 6, `its third call is number ${last + 1}`);
});

t.test('a call that has failed comes after those of other creators', async (t) => {
  let isFailing = true;
  const begun: string[] = [];
  const noted =
    (name: string): Program =>
    ({ transaction: { data } }) => {
      if (data.kind === 'create') return success();
      begun.push(name);
      const fails = name === 'failing' && isFailing;
      return fails ? { kind: 'error', code: 1, message: 'later' } : success();
    };
  const programs = { failing: noted('failing'), good: noted('good') };
  const set = ['docker-engine.contracts-parallelism=1'];
  const node = await contractNode(t, programs, { set });
  const { at, owner } = node;
  const [, other] = at.accounts;
  const role = { type: 102, target: other.text, opType: 'add', role: 'contract_developer' };
  await at.send(owner, role);
  await at.node.pool.submit(at.transfer(owner, other, 500_000_000));
  await at.mine();
  const failing = await node.create('failing');
  const mine = { type: 103, image: 'good', imageHash: hashOfImage('good'), contractName: 'x' };
  const good = await at.send(other, { ...mine, params: [] });
  await at.mine();
  await at.mine();
  await node.call(failing);
  await at.mine();
  t.same(begun, ['failing']);
  isFailing = false;
  for (let i = 0; i < 5; i++) await node.call(good, { fee: 10_000_000 + i });
  await at.mine();
  t.same(begun.slice(1), [...Array.from({ length: 5 }, () => 'good'), 'failing']);
});

t.test('a container takes no more calls at once than the settings allow', async (t) => {
  const node = await contractNode(t, {
    async slow(_, wait) {
      await wait(50);
      return success();
    },
  });
  for (let i = 0; i < 5; i++) await node.create('slow', { fee: 100_000_000 + i });
  t.equal((await node.at.mine()).length, 5);
  t.equal(node.containers.mostRunning, 1);
});

t.test('the end of a contract keeps its place among its calls', async (t) => {
  const { at, owner, created, call, containers, isActive, statuses } = await contractNode(t, {
    sum,
  });
  const contract = await created('sum');
  const now = at.clock.now();
  const before = await call(contract, { ...add(1), timestamp: now });
  const contractId = base58.encode(contract.id);
  const end = await at.send(owner, { type: 106, contractId, timestamp: now + 1 });
  const after = await call(contract, { ...add(1), timestamp: now + 2 });
  const block = await at.mine();
  t.same(
    block.map((tx) => base58.encode((tx.def.inner?.(tx) ?? tx).id)),
    [before, end].map(({ id }) => base58.encode(id)),
  );
  t.equal(isActive(contract), false);
  t.equal(at.node.pool.size(), 0);
  t.same(statuses(after), [
    `Failure null Contract '${contractId}' has been disabled. You cannot call disabled contract`,
  ]);
  t.equal(containers.containers, 0, 'and its container goes');
});

t.test('the end of a contract in a group follows the calls', async (t) => {
  const { at, owner, created, call, containers, isActive, statuses } = await contractNode(t, {
    sum,
  });
  const contract = await created('sum');
  const now = at.clock.now();
  const before = await call(contract, { ...add(1), timestamp: now });
  const contractId = base58.encode(contract.id);
  const badge = { atomicBadge: { trustedSender: owner.text } };
  const members = [
    at.make(owner, { type: 106, version: 3, contractId, feeAssetId: null, ...badge }),
    at.make(owner, {
      ...{ type: 4, version: 3, recipient: owner.text, amount: 1, attachment: '', ...badge },
    }),
  ];
  const transactions = members.map((tx) => parse(stringify(txToJson(tx, at.scheme))));
  const end = await at.send(owner, { type: 120, transactions, timestamp: now - 1_000 });
  const block = await at.mine();
  t.same(
    block.map((tx) => base58.encode((tx.def.inner?.(tx) ?? tx).id)),
    [before, end].map(({ id }) => base58.encode(id)),
  );
  t.same(statuses(before), [SUCCESS]);
  t.equal(isActive(contract), false);
  t.equal(at.node.pool.size(), 0);
  t.equal(containers.containers, 0, 'and its container goes');
});

t.test('an update runs nothing: its image is checked', async (t) => {
  const { at, owner, created, call, state, statuses } = await contractNode(t, {
    sum,
    better: () => success(integer('better', 1n)),
  });
  const contract = await created('sum');
  const contractId = base58.encode(contract.id);
  const update = (image: string, imageHash = hashOfImage(image)) =>
    at.send(owner, { type: 107, contractId, image, imageHash });
  const wrong = await update('better', hashOfImage('sum'));
  const right = await update('better');
  t.match(await at.mine(), [{ type: 105, fields: { results: [] } }]);
  t.same(statuses(wrong), ["Failure null Image 'better' is not found"]);
  t.same(statuses(right), [SUCCESS]);
  await call(contract, { version: 2, contractVersion: 2 });
  await at.mine();
  await at.mine();
  t.same(state(contract), { sum: 0n, better: 1n });
});

t.test('a call has to be read again where another contract changed meanwhile', async (t) => {
  const runs: string[] = [];
  const { at, created, call, state } = await contractNode(t, {
    sum,
    async copy({ transaction, reads }, wait) {
      if (transaction.data.kind === 'create') return success();
      const from = String(transaction.params[0]?.value);
      const entry = reads.contractEntry(from, 'sum');
      runs.push(String(entry.value));
      await wait(50);
      return success({ ...entry, key: 'copy' });
    },
  });
  const counter = await created('sum');
  const copy = await created('copy');
  const now = at.clock.now();
  const from = [{ key: 'from', type: 'string', value: base58.encode(counter.id) }];
  await call(copy, { params: from, timestamp: now });
  await call(counter, { ...add(5), timestamp: now + 1 });
  t.equal((await at.mine()).length, 2);
  t.same(runs, ['0', '5']);
  t.same(state(copy), { copy: 5n }, 'the block has the order counter, copy');
});

t.test('a contract that always reads what changes is executed alone at last', async (t) => {
  let runs = 0;
  const { at, created, call, state } = await contractNode(t, {
    async copy({ transaction, reads }, wait) {
      if (transaction.data.kind === 'create') return success();
      runs++;
      const entry = reads.contractEntry(String(transaction.params[0]?.value), 'sum');
      await wait(50);
      return success({ ...entry, key: 'copy' });
    },
    async sum(execution, wait) {
      await wait(20);
      return sum(execution, wait);
    },
  });
  const counter = await created('sum');
  const copy = await created('copy');
  const now = at.clock.now();
  const from = [{ key: 'from', type: 'string', value: base58.encode(counter.id) }];
  await call(copy, { params: from, timestamp: now });
  for (let i = 1; i <= 20; i++) await call(counter, { ...add(1), timestamp: now + i });
  t.equal((await at.mine()).length, 21);
  t.equal(runs, 3);
  t.ok((state(copy)['copy'] as bigint) < 20n, 'it does not wait for all others');
});

t.test('a container that still starts holds up nothing', async (t) => {
  const { at, owner, created, call, containers, executed } = await contractNode(t, { sum });
  const contract = await created('sum');
  const called = await call(contract);
  containers.setProblem('the engine has gone');
  containers.setProblem(undefined);
  const paid = at.transfer(owner, at.accounts[1], 1);
  await at.node.pool.submit(paid);
  t.same(
    (await at.mine()).map(({ id }) => id),
    [paid.id],
  );
  t.same(executed(await at.mine()), [base58.encode(called.id)]);
});

t.test('while the engine is away, everything but contracts is packed as ever', async (t) => {
  const { at, owner, created, call, containers, executed } = await contractNode(t, { sum });
  const contract = await created('sum');
  const other = await created('sum');
  containers.setProblem('the engine has gone');
  const called = await call(contract);
  const contractId = base58.encode(other.id);
  const end = await at.send(owner, { type: 106, contractId });
  t.match(await at.mine(), [{ id: end.id }]);
  t.equal(at.node.pool.size(), 1, 'the call waits');
  containers.setProblem(undefined);
  await at.mine();
  t.same(executed(await at.mine()), [base58.encode(called.id)]);
});

t.test('a caller with a script: its runs count once, and more than fit wait', async (t) => {
  const { at, owner, created, call, executed, state } = await contractNode(t, { sum });
  const contract = await created('sum');
  const [, guarded] = at.accounts;
  await at.node.pool.submit(at.transfer(owner, guarded, 10_000_000_000));
  await at.mine();
  const script = `base64:${Buffer.from(compiled('sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)')).toString('base64')}`;
  await at.send(guarded, { type: 13, name: 'guard', description: '', script });
  await at.mine();
  const contractId = base58.encode(contract.id);
  const calls = [];
  for (let i = 0; i < 101; i++) {
    const fields = { type: 104, contractId, ...add(1), fee: 10_400_000 + i };
    calls.push(await at.send(guarded, fields));
  }
  await call(contract, { ...add(1000), timestamp: at.clock.now() - 1 });
  t.equal(executed(await at.mine()).length, 101, '100 runs, and the call of another account');
  t.equal(executed(await at.mine()).length, 1);
  t.same(state(contract), { sum: 1101n });
});
