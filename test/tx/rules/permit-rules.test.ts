// Roles of accounts with a script, before and after feature 1007.
import t from 'tap';
import { feature } from '../../../src/tx/rules/features.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { compiled } from '../../generators/scripts.ts';
import { actor, createHarness, defaultRules, WEST } from './ledger-harness.ts';

const [owner, alice, bob] = [actor(1), actor(2), actor(3)] as const;
const roles = ['miner', 'permissioner', 'connection_manager', 'blacklister'] as const;
const SCRIPTED = `Account ${alice.text} is scripted, so only the contract_developer role is allowed`;

t.test('a script protects nobody from a ban, from feature 1007 on', async (t) => {
  const from = 4;
  const features = new Map([...defaultRules.preActivatedFeatures, [feature.bansOfScripted, from]]);
  const h = await createHarness({
    balances: [owner, alice].map((of) => [of, 100n * WEST] as const),
    participants: [[owner, roles]],
    rules: { preActivatedFeatures: features },
  });
  const change = (opType: string, role: string) =>
    h.make(permit, owner, { target: alice.to, opType, role, dueTimestamp: undefined });
  const fee = 2n * WEST;
  h.send(setScript, alice, { script: compiled('true'), name: 'guard', description: '', fee });
  await h.mine();
  t.equal(h.refusal(change('add', 'banned')), SCRIPTED, 'before');
  await h.mine();
  h.apply(change('add', 'banned'));
  t.equal(h.refusal(change('add', 'miner')), SCRIPTED, 'other roles stay refused');
  await h.mine();
  const payment = () => h.make(transfer, alice, { recipient: bob.to, amount: 1n, fee });
  t.match(h.refusal(payment()), /banned/);
  h.apply(change('remove', 'banned'));
  await h.mine();
  h.apply(payment());
});
