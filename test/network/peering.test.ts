import t, { type Test } from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import type { Files } from '../../src/base/ports/files.ts';
import { addressText } from '../../src/network/messages/peer-address.ts';
import { encodePeers, PEERS } from '../../src/network/messages/peer-messages.ts';
import { Peering, type PeeringOptions } from '../../src/network/peering.ts';
import { seededRandom } from '../crypto/random.ts';
import { memoryFiles } from '../keystore/sample.ts';
import { type FakeClock, fakeClock } from '../node/fake-clock.ts';
import { type MemoryLog, memoryLog } from '../node/memory-ports.ts';
import { createMemoryNet } from '../simulated/memory-net.ts';
import { family, immediately, scheme } from './parties.ts';

interface Node {
  readonly peering: Peering;
  readonly owner: Uint8Array;
  readonly text: string;
  readonly host: string;
  readonly log: MemoryLog;
  readonly connected: () => string[];
}

interface World {
  readonly clock: FakeClock;
  readonly state: Map<string, Uint8Array>;
  /** A registered node that knows the nodes of these names; it has not started. */
  node(name: string, knows: readonly string[], options?: NodeOptions): Node;
  /** Lets so many seconds pass. */
  seconds(count: number): Promise<void>;
}

interface NodeOptions extends Partial<PeeringOptions> {
  readonly files?: Files;
  readonly declares?: boolean;
  /** What this node knows of the state, where that differs. */
  readonly sees?: Map<string, Uint8Array>;
}

const PORT = 6864;

/** How a start names the account of a node of this name. */
function keyOf(name: string): string {
  const { publicKey } = family.keyPairFromPhrase(name);
  const address = scheme.addressToText(scheme.addressOf(publicKey));
  return `Address: ${address}; public key: ${base58.encode(publicKey)}`;
}

function world(t: Test): World {
  const clock = fakeClock(1_700_000_000_000);
  const random = seededRandom('peering');
  const net = createMemoryNet({ after: immediately });
  const state = new Map<string, Uint8Array>();

  function node(name: string, knows: readonly string[], options: NodeOptions = {}): Node {
    const keys = family.keyPairFromPhrase(name);
    const address = scheme.addressOf(keys.publicKey);
    state.set(latin1(address), keys.publicKey);
    const log = memoryLog();
    const peering = new Peering(
      {
        hello: {
          version: { major: 1, minor: 1, patch: 0 },
          agent: 'platform-node',
          chainId: scheme.chainId,
          genesisId: new Uint8Array(64),
          consensusType: 'poa',
          settingsHash: new Uint8Array(32),
          nodeName: name,
          nonce: 1n,
          declaredAddress: options.declares === false ? undefined : { host: name, port: PORT },
          ownerPublicKey: keys.publicKey,
          mode: 'default',
          features: [],
          miner: undefined,
        },
        minimumVersion: { major: 1, minor: 0, patch: 0 },
        host: name,
        port: PORT,
        knownPeers: knows.map((host) => ({ host, port: PORT })),
        handshakeCheck: true,
        connectionsMax: 30,
        handshakeMs: 30_000,
        idleMs: 60_000,
        dialDelayMs: 5000,
        connectionMs: 30_000,
        exchange: true,
        exchangeMs: 120_000,
        residenceMs: 86_400_000,
        suspensionMs: 60_000,
        blacklistMs: 900_000,
        blacklisting: true,
        file: undefined,
        ...options,
      },
      {
        network: net.host(name),
        scheme,
        clock,
        random,
        log,
        files: options.files,
        owner: {
          address,
          publicKey: keys.publicKey,
          sign: (message) => family.sign(keys.privateKey, message, random),
        },
        verify: async (key, message, signature) => family.verify(key, message, signature),
        ephemeralKey: () => family.generateKeyPair(random).publicKey,
        registeredKey: (owner) => (options.sees ?? state).get(latin1(owner)),
        headTime: () => clock.now(),
        miners: () => ({ others: [], isMiner: false }),
      },
    );
    t.teardown(() => peering.stop());
    return {
      peering,
      owner: address,
      text: scheme.addressToText(address),
      host: name,
      log,
      connected: () =>
        peering.sessions
          .all()
          .map(({ nodeName }) => nodeName)
          .sort(),
    };
  }

  async function seconds(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await clock.advance(1000);
      for (let k = 0; k < 30; k++) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return { clock, state, node, seconds };
}

t.test('a newcomer is known everywhere within seconds', async (t) => {
  const { node, seconds } = world(t);
  const one = node('one', []);
  const two = node('two', ['one']);
  const three = node('three', ['one']);
  for (const { peering } of [one, two]) await peering.start();
  await seconds(6);
  await three.peering.start();
  await seconds(12);
  t.strictSame(one.connected(), ['three', 'two']);
  t.strictSame(two.connected(), ['one', 'three']);
  t.strictSame(three.connected(), ['one', 'two']);
  t.strictSame(
    two.peering.book
      .known()
      .map(({ address }) => address.host)
      .sort(),
    ['one', 'three'],
  );
  t.match(one.peering.sessions.of(two.owner), { remoteHost: 'two' });
});

t.test('without exchange nobody is told', async (t) => {
  const { node, seconds } = world(t);
  const one = node('one', [], { exchange: false });
  const two = node('two', ['one']);
  const three = node('three', ['one']);
  for (const { peering } of [one, two, three]) await peering.start();
  await seconds(150);
  t.strictSame(two.connected(), ['one']);
});

t.test('a declared address that is not the real one is not believed', async (t) => {
  const { node, seconds } = world(t);
  const one = node('one', []);
  const liar = node('liar', ['one'], { declares: false });
  await one.peering.start();
  await liar.peering.start();
  await seconds(2);
  t.strictSame(one.connected(), ['liar']);
  t.strictSame(one.peering.book.known(), []);
});

t.test('a configured place that fails is soon dialled again', async (t) => {
  const { node, seconds } = world(t);
  const one = node('one', ['two']);
  await one.peering.start();
  await seconds(1);
  t.match(one.peering.penalties.suspended(), [{ place: 'two:6864' }]);
  await seconds(29);
  t.ok(one.log.of('peer.unreachable').length > 2);
  const two = node('two', []);
  await two.peering.start();
  await seconds(10);
  t.strictSame(one.connected(), ['two']);
});

t.test('scenario 97: a key that is registered later', async (t) => {
  const { node, seconds, state } = world(t);
  const one = node('one', []);
  await one.peering.start();
  const two = node('two', ['one']);
  const key = state.get(latin1(two.owner))!;
  await two.peering.start();
  state.delete(latin1(two.owner));
  await seconds(20);
  t.strictSame(one.connected(), []);
  t.match(one.log.of('peer.refused'), [
    { why: new RegExp(`'${two.text}', is not permitted to join the cluster`) },
  ]);
  state.set(latin1(two.owner), key);
  one.peering.review(true);
  await seconds(61);
  t.strictSame(one.connected(), ['two'], 'without a restart of anybody');
});

t.test('scenario 98: a key that is removed, and comes back by a rollback', async (t) => {
  const { node, seconds, state } = world(t);
  const nodes = [node('one', []), node('two', ['one']), node('three', ['one'])] as const;
  const [one, two, three] = nodes;
  for (const { peering } of nodes) await peering.start();
  await seconds(15);
  t.strictSame(one.connected(), ['three', 'two']);
  const key = state.get(latin1(three.owner))!;
  state.delete(latin1(three.owner));
  for (const { peering } of [one, two]) peering.review(true);
  t.strictSame([one.connected(), two.connected()], [['two'], ['one']], 'at once');
  for (const { peering } of [one, two]) {
    t.notOk(peering.book.known().some(({ address }) => address.host === 'three'));
  }
  await seconds(70);
  t.strictSame([one.connected(), two.connected()], [['two'], ['one']], 'dials are refused');
  state.set(latin1(three.owner), key);
  for (const { peering } of nodes) peering.review(true);
  await seconds(70);
  t.ok(one.connected().includes('three'));
});

t.test('the configured place of a removed node is known again after a rollback', async (t) => {
  const { node, seconds, state } = world(t);
  const one = node('one', ['three']);
  const three = node('three', []);
  for (const { peering } of [one, three]) await peering.start();
  await seconds(2);
  t.strictSame(one.connected(), ['three']);
  const hosts = (): string[] => one.peering.book.known().map(({ address }) => address.host);
  const key = state.get(latin1(three.owner))!;
  state.delete(latin1(three.owner));
  for (const { peering } of [one, three]) peering.review(true);
  t.strictSame(hosts(), []);
  await seconds(120);
  t.strictSame(one.log.of('peer.unreachable'), [], 'it is not dialled');
  state.set(latin1(three.owner), key);
  for (const { peering } of [one, three]) peering.review(true);
  t.strictSame(hosts(), ['three']);
  await seconds(10);
  t.strictSame(one.connected(), ['three']);
});

t.test('a removed node says so once', async (t) => {
  const { node, seconds, state } = world(t);
  const one = node('one', []);
  const two = node('two', ['one']);
  for (const { peering } of [one, two]) await peering.start();
  await seconds(2);
  const { membership } = two.peering;
  t.equal(membership.problem(), undefined);
  const key = state.get(latin1(two.owner))!;
  state.delete(latin1(two.owner));
  for (const { peering } of [one, two]) peering.review(true);
  await seconds(120);
  for (const { peering } of [one, two]) peering.review(false);
  t.strictSame(two.log.of('network.removed'), [{ owner: two.text }]);
  t.strictSame(two.log.of('network.not-permitted'), [], 'which the refusals do not repeat');
  t.match(membership.problem(), `the chain does not have '${two.text}'`);
  state.set(latin1(two.owner), key);
  for (const { peering } of [one, two]) peering.review(true);
  t.equal(membership.problem(), undefined);
  t.strictSame(two.log.of('network.registered'), [{ owner: two.text }]);
  t.strictSame(one.log.of('network.removed'), []);
});

t.test('a node that was off when it was removed says so once', async (t) => {
  const { node, seconds, state } = world(t);
  const sees = new Map<string, Uint8Array>();
  const one = node('one', []);
  const two = node('two', [], { sees });
  const off = node('off', ['one', 'two'], { sees });
  for (const [owner, key] of state) sees.set(owner, key);
  state.delete(latin1(off.owner));
  const said = () => off.log.of('network.not-permitted');
  await one.peering.start();
  await off.peering.start();
  await seconds(8);
  t.strictSame(said(), [], 'the first node that it asks may be behind');
  await seconds(120);
  t.match(said(), [{ owner: off.text, place: 'one:6864' }]);
  t.equal(said().length, 1);
  t.match(off.peering.membership.problem(), `other nodes refuse '${off.text}'`);
  await two.peering.start();
  await seconds(70);
  t.strictSame(off.connected(), ['two']);
  t.equal(off.peering.membership.problem(), undefined, 'one node accepts it');
  await seconds(120);
  t.equal(said().length, 1);
});

t.test('scenario 104: a flood of addresses', async (t) => {
  const { node, seconds } = world(t);
  const one = node('one', []);
  const two = node('two', ['one']);
  await one.peering.start();
  await two.peering.start();
  await seconds(2);
  const session = two.peering.sessions.of(one.owner)!;
  for (let i = 0; i < 100; i++) {
    const places = Array.from({ length: 1000 }, (_, k) => ({
      host: `10.${i}.${k >> 8}.${k & 255}`,
      port: PORT,
    }));
    places[0] = { host: 'one', port: PORT };
    places[1] = { host: '127.0.0.1', port: PORT };
    places[2] = { host: '0.0.0.0', port: PORT };
    session.notify(PEERS, encodePeers(places, scheme));
  }
  await seconds(30);
  const { book } = one.peering;
  const known = new Set(book.known().map(({ address }) => addressText(address)));
  const candidates: string[] = [];
  book.pick(({ text }) => {
    if (!known.has(text)) candidates.push(text);
    return false;
  });
  t.ok(candidates.length <= 100 && candidates.length > 80, `${candidates.length}`);
  t.notOk(candidates.some((text) => /^(one|127\.0\.0\.1|0\.0\.0\.0):/.test(text)));
  for (let i = 0; i < 200; i++) session.notify(PEERS, encodePeers([], scheme));
  await seconds(3);
  t.match(one.peering.penalties.blacklisted(), [{ reason: /^flood/ }]);
});

t.test('known places survive a restart and expire', async (t) => {
  const files = memoryFiles();
  const file = '/data/peers.dat';
  const { node, seconds, clock } = world(t);
  const one = node('one', [], { files, file });
  const two = node('two', ['one']);
  await one.peering.start();
  await two.peering.start();
  await seconds(2);
  await one.peering.stop();
  t.strictSame(JSON.parse(new TextDecoder().decode(files.read(file))), ['two:6864']);
  await two.peering.stop();
  const again = node('one', [], { files, file });
  t.match(again.peering.book.known(), [{ address: { host: 'two', port: PORT } }]);
  await clock.advance(86_400_001);
  t.strictSame(again.peering.book.known(), []);
  files.replace(file, new TextEncoder().encode('{"no": "list"'));
  const broken = node('one', ['two'], { files, file });
  t.match(broken.peering.book.known(), [{ configured: true }]);
  t.equal(broken.log.of('peers.file-unreadable').length, 1);
});

t.test('news without end do not keep the node from its configured peers', async (t) => {
  const { node, seconds } = world(t);
  const one = node('one', ['two']);
  const liar = node('liar', ['one']);
  await one.peering.start();
  await liar.peering.start();
  await seconds(6);
  t.strictSame(one.connected(), ['liar']);
  const two = node('two', []);
  await two.peering.start();
  for (let i = 0; i < 40; i++) {
    const news = Array.from({ length: 4 }, (_, k) => ({ host: `10.1.${i}.${k}`, port: PORT }));
    liar.peering.sessions.of(one.owner)?.notify(PEERS, encodePeers(news, scheme));
    await seconds(3);
  }
  t.strictSame(one.connected(), ['liar', 'two']);
});

t.test('places of the file where no member is', async (t) => {
  const files = memoryFiles();
  const file = '/data/peers.dat';
  const list = ['gone:6864', 'nobody:6864', 'two:6864'];
  files.replace(file, new TextEncoder().encode(JSON.stringify(list)));
  const { node, seconds, state } = world(t);
  const one = node('one', [], { files, file });
  const two = node('two', []);
  const sees = new Map<string, Uint8Array>();
  const gone = node('gone', [], { sees });
  for (const [owner, key] of state) sees.set(owner, key);
  state.delete(latin1(gone.owner));
  await two.peering.start();
  await gone.peering.start();
  await one.peering.start();
  await seconds(30);
  t.strictSame(one.connected(), ['two']);
  const hosts = (): string[] => one.peering.book.known().map(({ address }) => address.host);
  t.strictSame(hosts(), ['nobody', 'two'], 'who was removed is forgotten at once');
  await seconds(900);
  t.strictSame(hosts(), ['two'], 'and who was never met, after some dials');
  const before = one.log.of('peer.unreachable').length;
  await seconds(120);
  t.equal(one.log.of('peer.unreachable').length, before, 'nobody is dialled any more');
  await one.peering.stop();
  t.strictSame(JSON.parse(new TextDecoder().decode(files.read(file))), ['two:6864']);
});

t.test('initial sync', async (t) => {
  t.test('keys of listed peers are learned and trusted', async (t) => {
    const { state, node, seconds } = world(t);
    const sees = new Map<string, Uint8Array>();
    const one = node('one', []);
    const other = node('other', []);
    const late = node('late', ['one'], { sees });
    const started = [one, other, late].map(({ peering }) => peering.start());
    await seconds(8);
    await Promise.all(started);
    t.strictSame(late.connected(), ['one']);
    await other.peering.connect({ host: 'late', port: PORT });
    await seconds(2);
    t.strictSame(late.connected(), ['one'], 'nobody else is trusted');
    sees.set(latin1(one.owner), state.get(latin1(one.owner))!);
    late.peering.review(true);
    sees.delete(latin1(one.owner));
    late.peering.review(true);
    t.strictSame(late.connected(), [], 'what the state says goes first');
  });

  t.test('scenario 106: nobody to ask', async (t) => {
    const { state, node } = world(t);
    const lone = node('lone', []);
    state.delete(latin1(lone.owner));
    await t.rejects(lone.peering.start(), {
      name: 'InitialSyncError',
      message:
        "Can't execute InitialSync: 'node.network.known-peers' is empty in the configuration " +
        `and owner-address is not found in the state. ${keyOf('lone')}`,
      isUnregistered: true,
    });
  });

  t.test('not registered anywhere', async (t) => {
    const { state, node, seconds } = world(t);
    const one = node('one', []);
    await one.peering.start();
    const stranger = node('stranger', ['one']);
    state.delete(latin1(stranger.owner));
    const started = t.rejects(stranger.peering.start(), {
      message:
        'Your node is probably not registered in the network. To register your node please ' +
        `contact your connection-manager. ${keyOf('stranger')}`,
      isUnregistered: true,
    });
    await seconds(2);
    await started;
  });

  t.test('not registered where somebody answers', async (t) => {
    const { state, node, seconds } = world(t);
    const one = node('one', []);
    await one.peering.start();
    const stranger = node('stranger', ['one', 'silent']);
    state.delete(latin1(stranger.owner));
    const started = t.rejects(stranger.peering.start(), {
      message: new RegExp(`^Your node is probably not registered .* ${keyOf('stranger')}$`),
      isUnregistered: true,
    });
    await seconds(125);
    await started;
  });

  t.test('nobody answers', async (t) => {
    const { state, node, seconds } = world(t);
    const stranger = node('stranger', ['one']);
    state.delete(latin1(stranger.owner));
    const started = t.rejects(stranger.peering.start(), {
      message: 'InitialSync failed with errors, could not resume application startup',
      isUnregistered: false,
    });
    await seconds(125);
    await started;
  });
});

t.test('a stop ends a start that waits, and no timer stays', async (t) => {
  const { clock, state, node, seconds } = world(t);
  const stranger = node('stranger', ['nobody']);
  state.delete(latin1(stranger.owner));
  // Nobody answers, so that it asks again after a while.
  const waiting = t.rejects(stranger.peering.start(), { name: 'DisposedError' });
  await seconds(1);
  await stranger.peering.stop();
  await waiting;
  t.equal(clock.timers(), 0);

  const one = node('one', ['nobody']);
  const listening = t.rejects(one.peering.start(), { name: 'DisposedError' });
  await one.peering.stop();
  await listening;
  t.equal(clock.timers(), 0);
});

t.test('timers begin with the start and end with the stop', async (t) => {
  const { clock, node } = world(t);
  const { peering } = node('one', []);
  t.equal(clock.timers(), 0, 'what was only made waits for nothing');
  await peering.start();
  t.ok(clock.timers() > 0);
  await peering.stop();
  t.equal(clock.timers(), 0);
});
