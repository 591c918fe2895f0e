import t from 'tap';
import type { ContractExecution } from '../../src/base/containers.ts';
import { base58 } from '../../src/codec/text.ts';
import { integer, success } from '../simulated/containers.ts';
import { contractNode } from './contract-node.ts';

t.test('what a running contract reads', async (t) => {
  let probe: ((execution: ContractExecution) => Promise<void>) | undefined;
  const node = await contractNode(t, {
    async probed(execution) {
      await probe?.(execution);
      const entries = ['a', 'b', 'c', 'ab'].map((key, i) => integer(key, BigInt(i)));
      return success(...entries, { key: 'text', type: 'string', value: 'x' });
    },
  });
  const { at, owner, created, call } = node;
  const contract = await created('probed');
  const contractId = base58.encode(contract.id);
  const entry = { type: 12, author: owner.text, authorPublicKey: base58.encode(owner.publicKey) };
  await at.send(owner, { ...entry, data: [{ key: 'k', type: 'integer', value: 1 }] });
  await at.mine();

  let seen = 0;
  let late: ContractExecution | undefined;
  probe = async ({ reads, transaction, block, token }) => {
    const keys = async (query: object) =>
      (await reads.contractEntries(contractId, { offset: 0, limit: 99, ...query })).map(
        ({ key }) => key,
      );
    t.same(reads.contractEntry(contractId, 'b'), integer('b', 1n));
    t.throws(() => reads.contractEntry(contractId, 'none'), { code: 304 });
    t.throws(() => reads.contractEntry(contractId, 'k'.repeat(1000)), { code: 304 });
    t.throws(() => reads.contractEntry('nonsense', 'a'), { code: 600, status: 404 });
    t.throws(() => reads.contractEntry('1'.repeat(100_000), 'a'), { code: 600 });
    t.throws(() => reads.contractEntry(base58.encode(new Uint8Array(32)), 'a'), { code: 600 });
    t.same(await keys({}), ['a', 'ab', 'b', 'c', 'text']);
    t.same(await keys({ offset: 1, limit: 2 }), ['ab', 'b']);
    t.same(await keys({ limit: 0 }), []);
    t.same(await keys({ matches: '^(a|c)' }), ['a', 'c'], 'the whole key has to match');
    t.same(await keys({ matches: '(a|c).*', keys: ['b'] }), ['a', 'ab', 'c']);
    t.same(await keys({ keys: ['c', 'none', '', 'a'] }), ['c', 'a']);
    await t.rejects(keys({ matches: '(' }), { code: 629 });
    t.same(reads.addresses().includes(owner.text), true);
    t.same(reads.addressData(owner.text, 0, 9), [integer('k', 1n)]);
    t.same(reads.addressData(owner.text, 1, 9), []);
    t.throws(() => reads.addressData('3N', 0, 9), { code: 102 });
    t.match(reads.balance(owner.text, undefined), { decimals: 8, amount: BigInt });
    t.throws(() => reads.balance(owner.text, contractId), { code: 118 });
    t.match(reads.assetId(1), /^\w{43,44}$/);
    t.not(reads.assetId(1), reads.assetId(2));
    t.equal(reads.transactionExists(contractId), true, 'it was executed');
    t.equal(reads.transactionExists(transaction.id), false, 'that is happening now');
    t.throws(() => reads.transactionExists('0'), { code: 199 });
    const { roles } = reads.permissions(owner.text, undefined);
    t.ok(roles.some(({ role }) => role === 'contract_developer'));
    t.same(reads.permissions(owner.text, 0).roles, []);
    for (const time of [-1, -2, -(2 ** 63), 0.5, Number.MAX_SAFE_INTEGER]) {
      t.throws(() => reads.permissions(owner.text, time), { code: 199 }, 'no time, and no crash');
    }
    t.throws(() => reads.policy(contractId), { code: 612 });
    const header = reads.blockHeader({ height: 1 });
    t.match(header, { height: 1, version: 1 });
    t.same(reads.blockHeader({ id: header.id }), header);
    for (const height of [0, -1, 1.5, block.height, 2 ** 40]) {
      t.throws(() => reads.blockHeader({ height }), { code: 301 }, `${height}`);
    }
    t.match(block, { minerAddress: owner.text, height: Number, reference: String });
    t.match(token, /^[\w-]{43}$/);
    t.match(JSON.parse(transaction.json()), { type: 104, id: transaction.id });
    t.match(transaction, { contractId, sender: owner.text, version: 1 });
    await t.rejects(keys({ keys: Array(10_001).fill('') }), { code: 413 }, 'empty keys cost');
    seen++;
  };
  await call(contract);
  t.equal((await at.mine()).length, 1);
  t.equal(seen, 1);

  probe = async (execution) => {
    late = execution;
  };
  await call(contract);
  await at.mine();
  t.throws(() => late?.reads.contractEntry(contractId, 'a'), { code: 622 }, 'it has ended');
});
