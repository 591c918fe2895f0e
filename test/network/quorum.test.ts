// Which peers a node counts as connected miners.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { isParticipant } from '../../src/ledger/participants.ts';
import { signedByMiner } from '../../src/network/messages/handshake-messages.ts';
import { HandshakeRefused } from '../../src/network/sessions/handshake-refused.ts';
import { scheme } from '../chain/chain-harness.ts';
import { seededRandom } from '../crypto/random.ts';
import { make } from '../privacy/members.ts';
import { cluster } from './cluster.ts';
import { createParties, family } from './parties.ts';

const set = (name: string) => [`privacy.owner-address=${name}`];

t.test('a miner counts whose privacy owner is another account', async (t) => {
  const network = await cluster(t, { miners: ['a', 'b', 'c'], others: ['c to its peers'] });
  const a = await network.start('a', { set: ['miner.quorum=2'] });
  await network.start('b', { set: ['miner.enable=no'] });
  await network.rounds(6);
  t.ok(a.log.of('miner.no-quorum').length > 0, 'one is not enough');
  t.strictSame(a.log.of('block.forged'), []);
  const identity = 'c to its peers';
  const c = await network.start('c', {
    identity,
    set: [...set(network.member(identity).text), 'miner.enable=no'],
  });
  await network.rounds(6);
  const { sessions } = a.node.services.peers!;
  t.strictSame(
    sessions.all().map(({ owner }) => scheme.addressToText(owner))[1],
    network.member(identity).text,
  );
  t.ok(a.log.of('block.forged').length > 0, 'two are');
  await c.stop();
});

t.test('a miner that is not registered any more does not count', async (t) => {
  const identity = 'c to its peers';
  const network = await cluster(t, { miners: ['a', 'b', 'c'], others: [identity] });
  const a = await network.start('a', { set: ['miner.quorum=1'] });
  const b = await network.start('b');
  const { text, address, publicKey } = network.member('c');
  await network.rounds(4);
  await a.node.pool.submit(
    make(a, network.clock.now(), {
      ...{ type: 111, opType: 'remove', nodeName: 'c', fee: 1_000_000 },
      ...{ target: text, targetPubKey: base58.encode(publicKey) },
    }),
  );
  await network.rounds(4);
  t.notOk(isParticipant(a.node.blockchain.view, address));
  await network.start('c', {
    identity,
    set: [...set(network.member(identity).text), 'miner.enable=no'],
  });
  await network.rounds(2);
  await b.stop();
  await network.rounds(2);
  const made = a.log.of('block.forged').length;
  await network.rounds(6);
  t.equal(a.node.services.peers!.sessions.all().length, 1, 'it is connected');
  t.ok(a.log.of('miner.no-quorum').length > 0, 'of two miners that are left, one is away');
  t.equal(a.log.of('block.forged').length, made);
});

t.test('nobody can claim the miner of another', async (t) => {
  const random = seededRandom('miners');
  const keys = family.keyPairFromPhrase('the miner');
  const genesisId = new Uint8Array(64).fill(1);
  const parties = createParties();
  const honest = parties.party('honest');
  const signed = family.sign(keys.privateKey, signedByMiner(genesisId, honest.owner), random);
  const miner = { publicKey: keys.publicKey, signature: signed };
  const proven = parties.party('honest', { phrase: 'honest', hello: { miner } });
  const thief = parties.party('thief', { hello: { miner } });
  const listener = parties.party('listener');
  t.teardown(honest.stop);
  for (const one of [proven, thief, listener]) {
    await one.listen();
    t.teardown(one.stop);
  }
  await proven.dial(listener);
  t.not(listener.sessions.of(proven.owner)?.miner, proven.owner);
  await t.rejects(thief.dial(listener), HandshakeRefused);
  t.equal(listener.sessions.of(thief.owner), undefined);
  t.strictSame(listener.penalties.blacklisted(), [], 'its host is limited, and no more');
  t.match(listener.log.of('peer.limited'), [{ why: /Invalid signature of the miner/ }]);
});

t.test('miners find each other where there is no room for all nodes', async (t) => {
  const names = (count: number, letter: string) =>
    Array.from({ length: count }, (_, i) => `${letter}${i}`);
  const [miners, others] = [names(6, 'm'), names(8, 'o')];
  const network = await cluster(t, {
    miners,
    others,
    set: ['miner.quorum=3', 'network.max-simultaneous-connections=2'],
  });
  // All know the same two miners, and each has room for two that are none.
  const start = (name: string) =>
    network.start(name, {
      knows: ['m0', 'm1'],
      set: [`network.declared-address=${network.member(name).host}:6864`],
    });
  const made: Awaited<ReturnType<typeof start>>[] = [];
  for (const name of miners.slice(0, 2)) made.push(await start(name));
  for (const name of others) await start(name);
  await network.rounds(4);
  for (const name of miners.slice(2)) made.push(await start(name));
  await network.rounds(40);
  const sessions = made.map(({ node }) => node.services.peers!.sessions.all());
  const texts = new Set(made.map(({ text }) => text));
  const withMiners = sessions.map(
    (all) => all.filter(({ owner }) => texts.has(scheme.addressToText(owner))).length,
  );
  t.strictSame(withMiners, [5, 5, 5, 5, 5, 5]);
  t.ok(sessions.every((all) => all.length <= 5 + 2));
  const height = Math.min(...made.map(({ node }) => node.blockchain.tip().height));
  t.ok(height > 20, `${height} blocks`);
});

t.test('full miners under other owners find each other again', async (t) => {
  const network = await cluster(t, {
    miners: ['a', 'b'],
    others: ['owner of a', 'owner of b', 'o1', 'o2', 'o3'],
    set: ['network.max-simultaneous-connections=2'],
  });
  const wide = ['network.max-simultaneous-connections=9'];
  await network.start('o1', { knows: ['o2'], set: wide });
  await network.start('o2', { knows: ['o1'], set: wide });
  await network.start('o3', { knows: ['o2'] });
  const start = (name: string) => {
    const identity = `owner of ${name}`;
    const owned = set(network.member(identity).text);
    return network.start(name, { knows: ['o1', 'o2'], identity, set: owned });
  };
  const a = await start('a');
  await network.rounds(10);
  const b = await start('b');
  await network.rounds(60);
  const isConnected = () =>
    a.node.services.peers!.sessions.of(network.member('owner of b').address) !== undefined;
  t.ok(isConnected());
  network.part(['a'], ['b']);
  await network.rounds(40);
  t.notOk(isConnected());
  network.heal();
  await network.rounds(120);
  t.ok(isConnected());
  await b.stop();
});

t.test('a watcher and a node that stands by leave the miner its place', async (t) => {
  for (const setting of ['network.mode=watcher', 'miner.enable=no']) {
    const network = await cluster(t, {
      miners: ['a', 'b', 'c'],
      others: ['owner of c', 'other of c', 'o1', 'o2'],
      set: ['network.max-simultaneous-connections=1', 'miner.quorum=2'],
    });
    const a = await network.start('a', { knows: [] });
    const b = await network.start('b', { knows: ['a'] });
    await network.start('o1', { knows: ['a'] });
    await network.start('o2', { knows: ['b'] });
    await network.rounds(4);
    await network.start('c', {
      identity: 'other of c',
      knows: ['a', 'b'],
      set: [...set(network.member('other of c').text), setting],
      around: (ports) => ({ ...ports, network: network.host('10.0.1.9') }),
    });
    await network.rounds(4);
    const c = await network.start('c', {
      identity: 'owner of c',
      knows: ['a', 'b'],
      set: set(network.member('owner of c').text),
    });
    await network.rounds(40);
    const made = [a, b, c].map(({ log }) => log.of('block.forged').length);
    t.ok(
      made.every((blocks) => blocks > 5),
      `${setting}: ${made} blocks`,
    );
    for (const one of [a, b, c]) await one.stop();
  }
});
