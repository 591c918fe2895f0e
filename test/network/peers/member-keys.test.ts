// How long the keys count that a newcomer was told by configured peers.
import t, { type Test } from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { latin1 } from '../../../src/base/bytes.ts';
import { blockProtocols } from '../../../src/network/messages/block-messages.ts';
import { MemberKeys } from '../../../src/network/peers/member-keys.ts';
import { PORTION_BLOCKS } from '../../../src/network/sync/portions.ts';
import { make } from '../../privacy/members.ts';
import {
  type Cluster,
  type ClusterNode,
  cluster,
  heightsOf,
  type Member,
  tipOf,
} from '../cluster.ts';
import { family, scheme } from '../parties.ts';

const LEARNED_AT = 1_000_000;

t.test('learned keys count until the chain is as new as they are', async (t) => {
  const { publicKey } = family.keyPairFromPhrase('a member');
  const owner = scheme.addressOf(publicKey);
  const state = new Map<string, Uint8Array>();
  const keys = new MemberKeys(true, {
    scheme,
    registeredKey: (address) => state.get(latin1(address)),
  });
  t.notOk(keys.isMember(owner));
  keys.learn([publicKey], LEARNED_AT);
  state.set(latin1(owner), publicKey);
  t.notOk(keys.review(LEARNED_AT - 2));
  state.delete(latin1(owner));
  t.notOk(keys.review(LEARNED_AT - 1));
  t.ok(keys.isMember(owner), 'it may have been registered again since');
  t.strictSame(keys.forHandshake(owner, new Uint8Array(32)), publicKey);
  t.ok(keys.review(LEARNED_AT));
  t.notOk(keys.isMember(owner), 'also where no head between two had the key');
  t.notOk(keys.review(LEARNED_AT + 1), 'it is told once');
});

t.test('answers of another round take the place of those before, and last no longer', async (t) => {
  const members = ['one', 'two', 'three'].map((name) => family.keyPairFromPhrase(name).publicKey);
  const [one, two, three] = members as [Uint8Array, Uint8Array, Uint8Array];
  const keys = new MemberKeys(true, { scheme, registeredKey: () => undefined });
  keys.learn([one, two], LEARNED_AT);
  keys.learn([three], LEARNED_AT + 100);
  const known = () => members.map((key) => keys.isMember(scheme.addressOf(key)));
  t.strictSame(known(), [false, false, true]);
  t.ok(keys.review(LEARNED_AT), 'the first of them counts');
  t.strictSame(known(), [false, false, false]);
  keys.learn([two], LEARNED_AT + 200);
  t.notOk(keys.review(LEARNED_AT + 199));
  t.strictSame(known(), [false, true, false]);
});

const register = (one: ClusterNode, at: Cluster, opType: 'add' | 'remove', who: Member) =>
  one.node.pool.submit(
    make(one, at.clock.now(), {
      ...{ type: 111, opType, nodeName: who.name, fee: 1_000_000 },
      target: base58.encode(who.address),
      targetPubKey: base58.encode(who.publicKey),
    }),
  );

async function networkOf(t: Test, names: readonly string[]) {
  const at = await cluster(t, { miners: names, later: ['late'] });
  const nodes = await Promise.all(names.map((name) => at.start(name)));
  await at.rounds(4);
  return { at, nodes };
}

const ownersKnownTo = ({ node }: ClusterNode): string[] =>
  node.services
    .peers!.sessions.all()
    .map(({ nodeName }) => nodeName)
    .sort();

t.test('who was removed in the first portion of a sync is no member after it', async (t) => {
  const { at, nodes } = await networkOf(t, ['one', 'two', 'three']);
  const [one, , three] = nodes as [ClusterNode, ClusterNode, ClusterNode];
  await register(one, at, 'add', at.member('late'));
  await at.rounds(4);
  const { head, newBlock } = blockProtocols;
  at.faults = ({ to, protocol }) => ({
    lost: to === at.member('late').host && (protocol.endsWith(head) || protocol.endsWith(newBlock)),
  });
  const starting = at.start('late', { knows: ['one', 'three'] });
  await at.seconds(5);
  const late = await starting;
  t.equal(tipOf(late).height, 1, 'it has met its peers and heard of no block');
  await register(one, at, 'remove', three);
  await at.rounds(6);
  at.faults = () => ({});
  await at.seconds(120);
  t.equal(tipOf(late).height, tipOf(one).height);
  t.strictSame(ownersKnownTo(late), ['one', 'two']);
});

t.test('a known peer that was no member for some time of the chain', async (t) => {
  const { at, nodes } = await networkOf(t, ['one', 'three']);
  const [one, three] = nodes as [ClusterNode, ClusterNode];
  await at.rounds(PORTION_BLOCKS);
  await register(one, at, 'remove', three);
  await at.rounds(5 * PORTION_BLOCKS);
  await register(one, at, 'add', three);
  await register(one, at, 'add', at.member('late'));
  await at.seconds(120);
  const set = ['network.listen=no', 'network.enable-peers-exchange=no'];
  const starting = at.start('late', { knows: ['three'], set });
  await at.seconds(5);
  const late = await starting;
  await at.seconds(120);
  t.strictSame(heightsOf([late]), heightsOf([one]), 'brings the whole chain');
  t.strictSame(late.log.of('peer.closed'), []);
});
