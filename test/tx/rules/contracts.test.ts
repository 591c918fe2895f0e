import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { contractEntries, contractOf, executedBy } from '../../../src/ledger/contracts.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../../src/tx/types/104-call-contract.ts';
import { executedContract } from '../../../src/tx/types/105-executed-contract.ts';
import { disableContract } from '../../../src/tx/types/106-disable-contract.ts';
import { updateContract } from '../../../src/tx/types/107-update-contract.ts';
import { compiled } from '../../generators/scripts.ts';
import { verdictsBy } from '../verdicts-by.ts';
import { type Actor, actor, createHarness, type Harness, WEST } from './ledger-harness.ts';

const [alice, bob, miner] = [actor(1), actor(2), actor(200)] as const;
const IMAGE = { image: 'sum:1', imageHash: 'ab'.repeat(32) };

async function network(features?: readonly number[]): Promise<Harness> {
  return createHarness({
    ...(features && {
      rules: { preActivatedFeatures: new Map(features.map((id) => [id, 0])) },
    }),
    balances: [alice, bob].map((of) => [of, 100n * WEST] as const),
    participants: [
      [alice, ['miner', 'permissioner', 'connection_manager', 'contract_developer']],
      [bob, ['contract_developer']],
    ],
  });
}

const sum = (value: bigint) => [{ key: 'sum', type: 'integer', value }] as const;

function executed(h: Harness, tx: Tx, results: readonly object[], by: Actor = miner): Tx {
  return h.make(executedContract, by, { tx, results });
}

const create = (h: Harness, from = alice): Tx =>
  h.make(createContract, from, { ...IMAGE, contractName: 'sum', params: [] });

t.test('scenario 79: a contract is created and called, the caller pays', async (t) => {
  const h = await network();
  const creation = create(h);
  const by = executed(h, creation, sum(0n));
  h.apply(by);
  await h.mine();
  t.match(contractOf(h.head, creation.id), { ...IMAGE, version: 1, active: true });
  t.same(executedBy(h.head, creation.id), by.id);
  t.equal(h.balance(alice), 100n * WEST - createContract.fee!);
  t.equal(h.balance(miner), createContract.fee);
  const { id: contractId } = creation;
  const call = (timestamp: number) =>
    h.make(callContract, bob, { contractId, params: [], contractVersion: 1, timestamp });
  const [first, second] = [call(h.now), call(h.now + 1)];
  h.apply(executed(h, first, sum(1n)));
  h.apply(executed(h, second, sum(2n)));
  await h.mine();
  t.same(
    [...contractEntries(h.head, contractId, 10)],
    [['sum', { type: 'integer', value: 2n }]],
    'scenario 84: the second call sees and replaces the result of the first',
  );
});

t.test('scenario 82: what a block may not hold', async (t) => {
  const h = await network();
  const creation = create(h);
  t.equal(
    h.refusal(creation),
    `Executable transaction with id = ${base58.encode(creation.id)}, type = 103 wasn't executed`,
  );
  t.equal(
    h.refusal(executed(h, creation, [], bob)),
    'ExecutedContractTransaction should be created only by block creator: ' +
      `tx sender is '${bob.text}', but block creator is '${miner.text}'`,
  );
  h.apply(executed(h, creation, []));
  t.equal(
    h.refusal(executed(h, creation, sum(1n))),
    `Executable transaction ${base58.encode(creation.id)} has been already executed`,
  );
  const forged = executed(h, create(h, bob), []);
  const verdicts = verdictsBy(forged, (index) => index === 0);
  t.match(h.refusal(forged, { verdicts }), /doesn't validate as signature/);
});

t.test('what is executed is judged as it would be alone', async (t) => {
  const h = await network();
  // Of a scripted account it costs more.
  const creation = { ...IMAGE, contractName: 'sum', params: [], fee: 2n * createContract.fee! };
  const make = (proofs: readonly Uint8Array[]) =>
    executed(h, h.make(createContract, alice, creation, { proofs }), []);
  t.match(h.refusal(make([])), /must have exactly 1 proof/);
  h.draft.set(scripts, alice.address, compiled('false'));
  t.match(h.refusal(make([])), /not allowed by account-script/);
  h.draft.set(scripts, alice.address, compiled('true'));
  h.apply(make([]));
});

t.test('scenario 83: ended, updated and foreign contracts', async (t) => {
  const h = await network();
  const creation = create(h);
  const { id: contractId } = creation;
  const name = base58.encode(contractId);
  h.apply(executed(h, creation, []));
  await h.mine();
  const call = (contractVersion: number, id = contractId) =>
    executed(h, h.make(callContract, bob, { contractId: id, params: [], contractVersion }), []);
  const update = (from: Actor) =>
    executed(h, h.make(updateContract, from, { ...IMAGE, image: 'sum:2', contractId }), []);
  t.match(
    t.throws(() => h.apply(call(1, new Uint8Array(32)))),
    { code: 600 },
  );
  t.equal(
    h.refusal(update(bob)),
    `Contract update transaction sender '${base58.encode(bob.publicKey)}' ` +
      `is not equal to contract creator '${base58.encode(alice.publicKey)}'`,
  );
  const updated = h.make(updateContract, alice, { ...IMAGE, image: 'sum:2', contractId });
  t.equal(h.refusal(executed(h, updated, sum(1n))), 'An update of a contract has no results');
  h.apply(update(alice));
  await h.mine();
  t.equal(
    h.refusal(call(1)),
    `Called version '1' of contract with id '${name}' doesn't match actual contract version '2'`,
  );
  h.apply(call(2));
  t.equal(
    h.refusal(h.make(disableContract, bob, { contractId })),
    `Can't disable contract: transaction sender '${base58.encode(bob.publicKey)}' ` +
      `is not developer of contract '${name}'`,
  );
  h.send(disableContract, alice, { contractId });
  await h.mine();
  t.match(h.refusal(update(alice)), /has been disabled/);
  t.match(
    t.throws(() => h.apply(call(2))),
    {
      code: 602,
      message: `Contract '${name}' has been disabled. You cannot call disabled contract`,
    },
  );
  t.match(
    t.throws(() => h.send(disableContract, alice, { contractId })),
    { code: 603 },
  );
});

t.test('scenario 87: the inner sender is judged when it is executed', async (t) => {
  const h = await network();
  const late = create(h, bob);
  h.send(permit, alice, { opType: 'add', role: 'banned', target: bob.to });
  await h.mine();
  t.match(h.refusal(executed(h, late, [])), `Sender is 'banned'`);
  t.match(
    h.refusal(executed(h, create(h, actor(5)), [])),
    /unavailable funds/,
    'and so are its funds',
  );
});

t.test('a fee in an asset needs the feature of sponsored fees', async (t) => {
  const h = await network([4, 5, 101]);
  const pays = (feeAssetId: Uint8Array | undefined) => () => {
    const input = { ...IMAGE, contractName: 'sum', params: [], feeAssetId };
    h.apply(executed(h, h.make(createContract, alice, input, { version: 2 }), []));
  };
  t.throws(pays(new Uint8Array(32).fill(1)), {
    message: /'Sponsored fees support' \(id: '120'\) has not been activated yet/,
  });
  t.doesNotThrow(pays(undefined));
});
