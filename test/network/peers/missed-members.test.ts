// A node comes back, and can reach none but a peer that was registered while it was away.
import t, { type Test } from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { IDENTITY } from '../../../src/network/messages/identity-messages.ts';
import { make } from '../../privacy/members.ts';
import { type Cluster, type ClusterNode, cluster, heightsOf, tipOf } from '../cluster.ts';

const OFF = ['network.listen=no', 'network.enable-peers-exchange=no'];

/** `late`, registered and with the whole chain. */
async function registered(at: Cluster, one: ClusterNode): Promise<ClusterNode> {
  const { name, address, publicKey } = at.member('late');
  await one.node.pool.submit(
    make(one, at.clock.now(), {
      ...{ type: 111, opType: 'add', nodeName: name, fee: 1_000_000 },
      target: base58.encode(address),
      targetPubKey: base58.encode(publicKey),
    }),
  );
  await at.rounds(20);
  const starting = at.start('late', { knows: ['one'] });
  await at.seconds(5);
  const late = await starting;
  await at.seconds(60);
  t.strictSame(heightsOf([late]), heightsOf([one]));
  return late;
}

/** `two` was away while `late` was registered. */
async function returned(t: Test, knows: readonly string[]) {
  const at = await cluster(t, { miners: ['one'], others: ['two'], later: ['late'] });
  const one = await at.start('one');
  const two = await at.start('two', { knows, set: OFF });
  await at.rounds(3);
  await two.stop();
  return { at, one, late: await registered(at, one), two };
}

t.test('a configured peer that it has never heard of brings the chain', async (t) => {
  const { at, one, late, two } = await returned(t, ['one', 'late']);
  await one.stop();
  const again = await two.restart();
  await at.seconds(60);
  t.strictSame(heightsOf([again]), heightsOf([late]));
});

t.test('it asks again, for the peer may come later', async (t) => {
  const { at, one, late, two } = await returned(t, ['one', 'late']);
  const { height } = tipOf(late);
  await one.stop();
  await late.stop();
  const again: ClusterNode = await two.restart();
  await at.seconds(100);
  t.ok(tipOf(again).height < height);
  const back = await late.restart();
  await at.seconds(150);
  t.strictSame(heightsOf([again]), heightsOf([back]));
});

t.test('a running node that was cut off asks, too', async (t) => {
  const at = await cluster(t, { miners: ['one'], others: ['two'], later: ['late'] });
  const one = await at.start('one');
  const two = await at.start('two', { knows: ['one', 'late'], set: OFF });
  await at.rounds(3);
  at.part(['two'], ['one', 'late']);
  const late = await registered(at, one);
  await one.stop();
  at.heal();
  await at.seconds(180);
  t.strictSame(heightsOf([two]), heightsOf([late]));
});

t.test('a node that has a session asks nobody', async (t) => {
  const { at, one, two } = await returned(t, ['one', 'late']);
  const asked: string[] = [];
  at.faults = ({ from, to, protocol }) => {
    if (from === at.member('two').host && protocol.endsWith(IDENTITY)) asked.push(to);
    return {};
  };
  const again = await two.restart();
  await at.seconds(300);
  t.strictSame(heightsOf([again]), heightsOf([one]));
  t.strictSame(asked, []);
});
