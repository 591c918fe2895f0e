import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { inOneGo } from '../../../src/concurrency/steps.ts';
import { hashesOf, membersOf, OWNER, RECIPIENT } from '../../../src/ledger/policies.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { createPolicy } from '../../../src/tx/types/112-create-policy.ts';
import { updatePolicy } from '../../../src/tx/types/113-update-policy.ts';
import { policyDataHash } from '../../../src/tx/types/114-policy-data-hash.ts';
import {
  type Actor,
  actor,
  createHarness,
  defaultRules,
  type Harness,
  WEST,
} from './ledger-harness.ts';

const [alice, bob, carol, dave] = [actor(1), actor(2), actor(3), actor(4)] as const;

async function network(more: ReadonlyMap<number, number> = new Map()): Promise<Harness> {
  const preActivatedFeatures = new Map([...defaultRules.preActivatedFeatures, ...more]);
  return createHarness({
    rules: { preActivatedFeatures },
    balances: [alice, bob, carol, dave].map((of) => [of, 100n * WEST] as const),
    participants: [
      [alice, ['miner', 'permissioner', 'connection_manager']],
      [bob, []],
      [carol, []],
    ],
  });
}

const addresses = (...of: readonly Actor[]) => of.map(({ address }) => address);
const group = (recipients: readonly Actor[], owners: readonly Actor[]) => ({
  policyName: 'prices',
  description: '',
  recipients: addresses(...recipients),
  owners: addresses(...owners),
});

const members = (...of: Parameters<typeof membersOf>) => inOneGo(membersOf(...of));

t.test('who may create a group of whom', async (t) => {
  const h = await network();
  const refusal = (recipients: readonly Actor[], owners: readonly Actor[]) =>
    h.refusal(h.make(createPolicy, alice, group(recipients, owners)));
  t.equal(refusal([bob], []), 'Policy without owners is invalid');
  t.equal(refusal([bob], [bob]), `Sender '${alice.text}' is not owner for policy`);
  t.equal(
    refusal([bob, dave, actor(9)], [alice]),
    `Recipients [${dave.text}; ${actor(9).text}] is not registered in network`,
  );
  const { id } = h.send(createPolicy, dave, group([bob, alice, bob], [carol, dave]));
  await h.mine();
  t.same(members(h.head, id, RECIPIENT), addresses(bob, alice), 'a set in its order');
  t.same(members(h.head, id, OWNER), addresses(carol, dave), 'owners need not be participants');
});

t.test('from feature 1001 on, anybody may create a group for others', async (t) => {
  const FROM = 4;
  const h = await network(new Map([[feature.policyForOthers, FROM]]));
  const foreign = () => h.make(createPolicy, alice, group([bob], [carol]));
  const notYet = `Sender '${alice.text}' is not owner for policy`;
  while (h.block.height < FROM) {
    t.equal(h.refusal(foreign()), notYet, `at height ${h.block.height}`);
    await h.mine();
  }
  t.equal(
    h.refusal(h.make(createPolicy, alice, group([bob], []))),
    'Policy without owners is invalid',
  );
  const made = foreign();
  h.apply(made);
  const { id } = made;
  await h.mine();
  t.same(members(h.head, id, OWNER), addresses(carol));
  const input = { policyId: id, opType: 'add', recipients: [], owners: addresses(alice) };
  t.equal(
    h.refusal(h.make(updatePolicy, alice, input)),
    `Sender '${alice.text}' is not owner for policy with id '${base58.encode(id)}'`,
    'who creates it has no other right to it',
  );
  await h.rollback(2);
  t.equal(h.block.height, FROM - 1);
  t.equal(h.refusal(foreign()), notYet, 'as before, after a rollback');
});

t.test('scenario 95: changes of a group', async (t) => {
  const h = await network();
  const { id: policyId } = h.send(createPolicy, alice, group([bob], [alice]));
  await h.mine();
  const change = (from: Actor, opType: string, recipients: Actor[], owners: Actor[]) =>
    h.make(updatePolicy, from, {
      policyId,
      opType,
      recipients: addresses(...recipients),
      owners: addresses(...owners),
    });
  const refusal = (...args: Parameters<typeof change>) => h.refusal(change(...args));
  const unknown = h.make(updatePolicy, alice, {
    policyId: new Uint8Array(32),
    opType: 'add',
    recipients: addresses(carol),
    owners: [],
  });
  const missing = `Object with policyId = ${'1'.repeat(32)} does not exist`;
  t.match(
    t.throws(() => h.apply(unknown)),
    { code: 612, message: missing },
  );
  t.equal(
    refusal(alice, 'add', [], []),
    'Invalid UpdatePolicyTransaction: empty owners and recipients',
  );
  t.equal(
    refusal(alice, 'add', [dave], []),
    `Unaccepted recipients in policy update: [${dave.text}]`,
  );
  t.equal(
    refusal(bob, 'add', [carol], []),
    `Sender '${bob.text}' is not owner for policy with id '${base58.encode(policyId)}'`,
  );
  t.equal(refusal(alice, 'remove', [], [alice]), 'Forbidden to remove all policy owners');
  const present = 'Cannot add owners or recipients that are already in the policy';
  t.equal(refusal(alice, 'add', [carol, bob], []), present);
  t.equal(refusal(alice, 'add', [], [alice]), present);
  const absent = 'Cannot remove owners or recipients that are absent from the policy';
  t.equal(refusal(alice, 'remove', [carol], []), absent);
  t.equal(refusal(alice, 'remove', [], [bob]), absent);
  h.apply(change(alice, 'add', [carol], [dave]));
  await h.mine();
  h.apply(change(dave, 'remove', [bob], [alice]));
  await h.mine();
  t.same(members(h.head, policyId, RECIPIENT), addresses(carol));
  t.same(members(h.head, policyId, OWNER), addresses(dave));
  await h.rollback(2);
  t.same(members(h.head, policyId, OWNER), addresses(alice));
});

t.test('hashes of a group: by a recipient, each once, in order', async (t) => {
  const h = await network();
  const { id: policyId } = h.send(createPolicy, alice, group([bob], [alice]));
  const hash = (of: number) => new Uint8Array(32).fill(of);
  const bind = (from: Actor, of: number, policy = policyId) =>
    h.make(policyDataHash, from, { policyId: policy, dataHash: hash(of) });
  t.equal(
    h.refusal(bind(bob, 1, hash(0))),
    `Object with policyId = ${'1'.repeat(32)} does not exist`,
  );
  t.equal(h.refusal(bind(alice, 1)), `Sender '${alice.text}' is not in policy recipients`);
  for (const each of [9, 3, 7]) h.apply(bind(bob, each));
  await h.mine();
  const again = h.make(policyDataHash, bob, { policyId, dataHash: hash(3), timestamp: h.now });
  t.match(
    t.throws(() => h.apply(again)),
    {
      code: 615,
      message: `The specified dataset with hash ${base58.encode(hash(3))} was added earlier`,
    },
  );
  h.apply(bind(bob, 1));
  await h.mine();
  t.same([...hashesOf(h.head, policyId, 100)], [9, 3, 7, 1].map(hash));
});
