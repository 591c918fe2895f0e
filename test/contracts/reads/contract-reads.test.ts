import t from 'tap';
import type { ContractExecution } from '../../../src/base/ports/containers.ts';
import { base58 } from '../../../src/codec/text.ts';
import { createContractReads } from '../../../src/contracts/reads/contract-reads.ts';
import { createCommittedView } from '../../../src/ledger/committed-view.ts';
import { putContract, putContractEntry } from '../../../src/ledger/contracts.ts';
import { putData } from '../../../src/ledger/data.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import { addMembers, bindHash, createPolicy, OWNER } from '../../../src/ledger/policies.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { integer, success } from '../../simulated/containers.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { contractNode } from '../contract-node.ts';

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
    t.same(await reads.addressData(owner.text, 0, 9), [integer('k', 1n)]);
    t.same(await reads.addressData(owner.text, 1, 9), []);
    await t.rejects(reads.addressData('3N', 0, 9), { code: 102 });
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
    await t.rejects(reads.policyList(contractId, 'owners'), { code: 612 });
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

t.test('reads of many rows let everything else run in between', async (t) => {
  const view = createOverlay(createCommittedView(createMemoryStore(), scheme));
  const id = new Uint8Array(32).fill(7);
  const [creator, image, imageHash] = [new Uint8Array(32).fill(1), 'image', 'ab'.repeat(32)];
  putContract(view, id, { creator, image, imageHash, version: 1, active: true });
  createPolicy(view, id, { name: 'policy', description: '' });
  const address = scheme.addressOf(creator);
  const keys = Array.from({ length: 300 }, (_, i) => `key ${i}`);
  for (const [i, key] of keys.entries()) {
    putContractEntry(view, id, key, { type: 'integer', value: 1n });
    putData(view, address, key, { type: 'integer', value: 1n });
    const hash = Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? i >> 8 : i));
    bindHash(view, id, hash, { transaction: id, sender: address });
  }
  addMembers(view, id, OWNER, [address]);
  let ms = 0;
  let turns = 0;
  const clock = { ...fakeClock(0), monotonic: () => ++ms, turn: async () => void turns++ };
  const reads = createContractReads({
    ...{ view, clock, txId: id, spend: () => {}, addresses: () => [], isKnown: () => false },
    keyFilter: async () => async (found) => found.map(() => true),
  });
  const [contractId, text] = [base58.encode(id), scheme.addressToText(address)];
  const most = { offset: 0, limit: 1000 };
  const questions = {
    keys: () => reads.contractEntries(contractId, { ...most, keys }),
    'all entries': () => reads.contractEntries(contractId, most),
    data: () => reads.addressData(text, 0, 1000),
    'data that is skipped': () => reads.addressData(text, 299, 1000),
    'parts of a request': () => reads.streamed(keys, (key) => reads.contractEntry(contractId, key)),
    hashes: () => reads.policyList(contractId, 'hashes'),
  };
  for (const [name, ask] of Object.entries(questions)) {
    turns = 0;
    const found = await ask();
    t.equal(found.length, name === 'data that is skipped' ? 1 : 300, name);
    t.ok(turns >= 5, `${name}: ${turns}`);
  }
  turns = 0;
  t.same(await reads.policyList(contractId, 'owners'), [text]);
  t.ok(turns < 5, 'a short list does not wait for a long one');
});
