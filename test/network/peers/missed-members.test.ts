// A node comes back, and can reach none but a peer that was registered while it was away.
import t, { type Test } from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { IDENTITY } from '../../../src/network/messages/identity-messages.ts';
import { make } from '../../privacy/members.ts';
import { type ClusterNode, cluster, heightsOf, tipOf } from '../cluster.ts';

const OFF = ['network.listen=no', 'network.enable-peers-exchange=no'];

/** `two` was away while `late` was registered and caught up, and then `one` went. */
async function returned(t: Test, knows: readonly string[]) {
  const at = await cluster(t, { miners: ['one'], others: ['two'], later: ['late'] });
  const one = await at.start('one');
  const two = await at.start('two', { knows, set: OFF });
  await at.rounds(3);
  await two.stop();
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
  return { at, one, late, two };
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

t.test('it asks nobody but configured peers, and no more once its chain is new', async (t) => {
  const { at, one, two } = await returned(t, ['one']);
  const asked: string[] = [];
  at.faults = ({ from, to, protocol }) => {
    if (from === at.member('two').host && protocol.endsWith(IDENTITY)) asked.push(to);
    return {};
  };
  const again = await two.restart();
  await at.seconds(300);
  t.strictSame(heightsOf([again]), heightsOf([one]));
  t.ok(asked.length > 0);
  t.strictSame([...new Set(asked)], [at.member('one').host]);
  const before = asked.length;
  await at.seconds(300);
  t.equal(asked.length, before);
});
