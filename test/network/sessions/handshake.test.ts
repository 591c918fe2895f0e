import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import type { PeerStream } from '../../../src/base/ports/network.ts';
import { decodeHandshake } from '../../../src/network/messages/handshake-messages.ts';
import type { HandshakeDeps } from '../../../src/network/sessions/handshake.ts';
import { seededRandom } from '../../crypto/random.ts';
import { createParties, family, type Party, type PartyOptions, scheme, until } from '../parties.ts';

async function two(t: Test, one: PartyOptions = {}, other: PartyOptions = {}) {
  const parties = createParties();
  const [a, b] = [parties.party('a', one), parties.party('b', other)];
  await a.listen();
  await b.listen();
  t.teardown(async () => {
    await a.stop();
    await b.stop();
  });
  return { ...parties, a, b };
}

t.test('both sides open a session with what the other has told', async (t) => {
  const declaredAddress = { host: '10.0.0.1', port: 6864 };
  const { a, b } = await two(t, { hello: { declaredAddress, mode: 'watcher' } });
  const session = await a.dial(b);
  t.match(session, { nodeName: 'b', nonce: 7n, version: '1.1.0', mode: 'default', outbound: true });
  t.strictSame(session.owner, b.owner);
  const back = b.sessions.of(a.owner);
  t.match(back, { nodeName: 'a', mode: 'watcher', declaredAddress, outbound: false });
  t.strictSame(back?.ownerPublicKey, a.keys.publicKey);
  t.strictSame([a.events, b.events], [['+b'], ['+a']]);
});

const wrong = (fill: number, size: number): Uint8Array => new Uint8Array(size).fill(fill);
const refusals: readonly (readonly [string, PartyOptions, RegExp])[] = [
  ['chain id', { hello: { chainId: 85 } }, /^Remote chain id 'U' does not match local 'T'$/],
  [
    'version',
    { hello: { version: { major: 0, minor: 99, patch: 0 } } },
    /^Remote node version '0.99.0' is not supported$/,
  ],
  [
    'consensus type',
    { hello: { consensusType: 'pos' } },
    /^Remote application consensus type 'pos' doesn't match local 'poa'$/,
  ],
  ['genesis id', { hello: { genesisId: wrong(9, 64) } }, /^Remote genesis id '.*' does not match/],
  [
    'settings',
    { hello: { settingsHash: wrong(9, 32) } },
    /^Remote consensus settings hash '.*' does not match/,
  ],
  [
    'overrides of voters',
    { hello: { features: ['another', 'voters/abc'] } },
    /^Remote overrides of voters '(voters\/abc)?' do not match local/,
  ],
  ['own address', { phrase: 'b' }, /^Shouldn't connect to node with same owner address '3/],
  ['signature by another key', { forged: true }, /^Wrong remote handshake! Invalid signature\.$/],
];

for (const [name, options, text] of refusals) {
  t.test(`scenario 101: refused for ${name}`, async (t) => {
    const { a, b } = await two(t, options);
    // The dialler may find the same fault itself, or hear of it.
    await t.rejects(a.dial(b), { name: 'HandshakeRefused' });
    await until('a refusal', () => b.log.of('peer.refused').length > 0);
    const [line] = b.log.of('peer.refused');
    t.match(line?.['why'], text);
    t.strictSame([a.events, b.events], [[], []]);
  });
}

t.test('consensus types are compared without case', async (t) => {
  const { a, b } = await two(t, { hello: { consensusType: 'PoA' } });
  await a.dial(b);
  t.equal(b.events.length, 1);
});

t.test('an owner who is not registered is refused, and accepted once it is', async (t) => {
  const { a, b, registered } = await two(t);
  registered.delete(latin1(a.owner));
  await t.rejects(a.dial(b), {
    message:
      `Wrong remote handshake! Sender address '${a.text}', ` +
      'is not permitted to join the cluster.',
    byRemote: true,
  });
  registered.set(latin1(a.owner), a.keys.publicKey);
  await a.dial(b);
  t.strictSame(b.events, ['+a']);
});

for (const [side, waitsFor] of [
  ['listener', 'verify'],
  ['listener', 'sign'],
  ['dialler', 'verify'],
] as const) {
  t.test(`an owner is removed while the ${side} waits to ${waitsFor}`, async (t) => {
    let remove = (): void => {};
    const wait = async (): Promise<void> => {
      remove();
      await new Promise((resolve) => setImmediate(resolve));
    };
    const { privateKey } = family.keyPairFromPhrase(side === 'listener' ? 'b' : 'a');
    const slowly: Pick<HandshakeDeps, 'sign' | 'verify'> = {
      async sign(message) {
        if (waitsFor === 'sign') await wait();
        return family.sign(privateKey, message, seededRandom('slowly'));
      },
      async verify(key, message, signature) {
        if (waitsFor === 'verify') await wait();
        return family.verify(key, message, signature);
      },
    };
    const [slow, plain] = [{ ports: slowly }, {}];
    const { a, b, registered } = await two(
      t,
      ...(side === 'listener' ? [plain, slow] : [slow, plain]),
    );
    const [here, removed] = side === 'listener' ? [b, a] : [a, b];
    remove = () => {
      registered.delete(latin1(removed.owner));
      here.sessions.evict((owner) => registered.has(latin1(owner)));
    };
    const message = new RegExp(`'${removed.text}', is not permitted to join the cluster`);
    await t.rejects(a.dial(b), { message });
    t.strictSame([here.sessions.all(), here.events], [[], []]);
    await until('the end', () => removed.sessions.all().length === 0);
  });
}

t.test('scenario 101: a second session of one owner is refused', async (t) => {
  const { a, b, party } = await two(t);
  await a.dial(b);
  const again = party('a again', { phrase: 'a' });
  await again.listen();
  t.teardown(again.stop);
  const message = `Connection to peer with address '${a.text}' already exists`;
  await t.rejects(again.dial(b), { message, byRemote: true });
  t.strictSame(b.events, ['+a'], 'the first one stays');
});

t.test('of two simultaneous connections both sides keep the same', async (t) => {
  for (let i = 0; i < 20; i++) {
    const { a, b } = await two(t, { phrase: `a ${i}` });
    await Promise.allSettled([a.dial(b), b.dial(a)]);
    const lower = Buffer.compare(a.owner, b.owner) < 0 ? a : b;
    await until(
      'one session',
      () => a.sessions.all().length === 1 && b.sessions.all().length === 1,
    );
    t.equal(a.sessions.all()[0]?.outbound, lower === a);
    t.equal(b.sessions.all()[0]?.outbound, lower === b);
    const session = a.sessions.of(b.owner)!;
    t.ok(session.notify('alive/1', new Uint8Array(0)));
  }
});

t.test('no more sessions than allowed', async (t) => {
  const { a, b, party } = await two(t, {}, { sessions: { connectionsMax: 1 } });
  await a.dial(b);
  const third = party('c');
  await third.listen();
  t.teardown(third.stop);
  await t.rejects(third.dial(b), {
    message: /reached maximum number of allowed connections \('1'\)/,
  });
});

t.test('a handshake that takes too long', async (t) => {
  const { a, b } = await two(t, {}, { sessions: { handshakeMs: 60 } });
  const signal = AbortSignal.timeout(5000);
  const mute = await a.network.dial(b.host, b.port, signal);
  await new Promise<void>((resolve) => mute.onClose(resolve));
  const slow = await a.network.dial(b.host, b.port, signal);
  await slow.open('/permchain/T/hs/1.0.0', 4096, signal);
  await new Promise<void>((resolve) => slow.onClose(resolve));
  t.match(b.log.of('peer.refused')[0], { why: 'Timeout expired while waiting for handshake' });
});

t.test('nothing is served before the handshake', async (t) => {
  let served = 0;
  const { a, b } = await two(
    t,
    {},
    {
      sessions: { handshakeMs: 100 },
      prepare: (sessions) =>
        sessions.handleNotices('n/1', { messageBytesMax: 10, take: () => void served++ }),
    },
  );
  const signal = AbortSignal.timeout(5000);
  const stranger = await a.network.dial(b.host, b.port, signal);
  const stream = await stranger.open('/permchain/T/n/1', 10, signal);
  await stream.send(Uint8Array.of(1)).catch(() => {});
  await new Promise<void>((resolve) => stranger.onClose(resolve));
  t.equal(served, 0);
});

t.test('scenario 100: recorded and relayed handshakes', async (t) => {
  /** A node in the middle, with a transport key of its own, that passes messages on. */
  async function middle(a: Party, b: Party, party: (name: string) => Party) {
    const mallory = party('mallory');
    const seen: Uint8Array[] = [];
    mallory.network.handle(
      '/permchain/T/hs/1.0.0',
      { messageBytesMax: 4096, inboundStreamsMax: 1 },
      (near) => {
        void (async () => {
          const signal = AbortSignal.timeout(5000);
          const connection = await mallory.network.dial(b.host, b.port, signal);
          const far = await connection.open('/permchain/T/hs/1.0.0', 4096, signal);
          await Promise.allSettled([pass(near, far, seen), pass(far, near, [])]);
        })();
      },
    );
    mallory.port = (await mallory.network.listen({ host: '', port: 0, connectionsMax: 9 }))!;
    t.teardown(mallory.stop);
    await t.rejects(a.dial(mallory), { message: /Invalid signature|ended/ });
    return { mallory, seen };
  }
  async function pass(from: PeerStream, to: PeerStream, seen: Uint8Array[]): Promise<void> {
    for (let got = await from.receive(); got !== undefined; got = await from.receive()) {
      seen.push(got);
      await to.send(got);
    }
    await to.end();
  }

  t.test('a man in the middle', async (t) => {
    const { a, b, party } = await two(t);
    const { mallory } = await middle(a, b, party);
    await until('refusal', () => b.log.of('peer.refused').length > 0);
    t.match(b.log.of('peer.refused')[0], { why: /Invalid signature/ });
    t.strictSame([a.events, b.events], [[], []]);
    t.match(b.log.of('peer.limited'), [{ host: mallory.host, why: /Invalid signature/ }]);
    t.strictSame(b.penalties.blacklisted(), []);
  });

  t.test('a recording', async (t) => {
    const { a, b, party } = await two(t);
    const { seen } = await middle(a, b, party);
    t.strictSame(
      seen.map((message) => decodeHandshake(message, scheme).kind),
      ['hello', 'auth'],
    );
    const replayer = party('replayer');
    await replayer.network.listen({ host: '', port: undefined, connectionsMax: 1 });
    t.teardown(replayer.stop);
    const signal = AbortSignal.timeout(5000);
    const connection = await replayer.network.dial(b.host, b.port, signal);
    const stream = await connection.open('/permchain/T/hs/1.0.0', 4096, signal);
    for (const message of seen) await stream.send(message);
    const answers = [await stream.receive(), await stream.receive()];
    t.match(decodeHandshake(answers[1]!, scheme), { kind: 'refusal', why: /Invalid signature/ });
    t.strictSame(b.events, []);
  });
});

t.test('who forges behind an address shuts out no member there', async (t) => {
  const { b, party } = await two(t);
  const host = '10.9.9.9';
  const behind = (name: string, options: PartyOptions = {}): Party => {
    const made = party(name, { ...options, host });
    t.teardown(made.stop);
    return made;
  };
  const member = behind('member');
  await member.dial(b);
  const forger = behind('forger', { forged: true });
  const since = performance.now();
  const forge = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await t.rejects(forger.dial(b));
  };
  await forge(50);
  const seconds = (performance.now() - since) / 1000;
  const heard = b.log.of('peer.refused').length;
  t.ok(heard >= 4 && heard <= 5 + 2 * seconds, `${heard} of 50 in ${seconds} s`);
  t.match(b.log.of('peer.limited'), [{ host }]);
  t.equal(b.log.of('peer.limited').length, 1);
  t.strictSame(b.penalties.blacklisted(), []);
  t.strictSame(b.events, ['+member'], 'its session goes on');

  member.sessions.of(b.owner)?.close('for a moment');
  await until('the end of the session', () => b.sessions.all().length === 0);
  await forge(10);
  await member.dial(b);
  t.ok(b.sessions.of(member.owner), 'a member that is known is not limited');
  const newcomer = behind('newcomer');
  const tried = async () => await newcomer.dial(b).catch(() => undefined);
  for (let i = 0; i < 500 && (await tried()) === undefined; i++) await sleep(10);
  t.ok(b.sessions.of(newcomer.owner), 'another one waits for its turn');
});
