/**
 * Random and mutated frames against every codec and every protocol (row R7 of the goals): only
 * CodecError is thrown, no memory grows, and the sender is disconnected. FUZZ_FRAMES makes it long.
 */
import { generateKeyPair } from '@libp2p/crypto/keys';
import t from 'tap';
import { libp2pNetwork } from '../../src/adapters/libp2p/transport.ts';
import { ApiError } from '../../src/base/errors.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { decodeHandshake } from '../../src/network/messages/handshake-messages.ts';
import { decodeQuestion, encodeQuestion } from '../../src/network/messages/identity-messages.ts';
import { decodePeers, encodePeers } from '../../src/network/messages/peer-messages.ts';
import { Rng } from '../generators/random.ts';
import { cluster, tipOf } from './cluster.ts';
import { type Format, formats, frame, hello, places, question } from './frames.ts';
import { maverick } from './maverick.ts';
import { createParties, type Party, scheme, until } from './parties.ts';

const FRAMES = Number(process.env['FUZZ_FRAMES'] ?? 50_000);
const SEED = Number(process.env['SEED'] ?? 7);
const MIB = 1024 * 1024;
const LONG_MS = 3_600_000;
const allFormats: readonly Format[] = Object.values(formats);

if (FRAMES > 100_000) t.setTimeout(LONG_MS);
t.comment(`${FRAMES} frames, seed ${SEED}`);

t.test('codecs', { timeout: LONG_MS }, async (t) => {
  const rng = new Rng(SEED);
  let read = 0;
  let before = 0;
  for (let i = 0; i < FRAMES; i++) {
    if (i === FRAMES / 10) before = process.memoryUsage().heapUsed;
    const { decode, samples } = allFormats[i % allFormats.length]!;
    try {
      decode(frame(rng, samples), scheme);
      read++;
    } catch (cause) {
      // A transaction may be readable and still say what none may say.
      if (!(cause instanceof CodecError) && !(cause instanceof ApiError)) throw cause;
    }
  }
  t.ok(read > 0 && read < FRAMES, `${read} of ${FRAMES} could be read`);
  const grown = (process.memoryUsage().heapUsed - before) / MIB;
  t.ok(grown < 64, `${Math.round(grown)} MiB more`);
});

t.test('samples are read as they were written', async (t) => {
  t.strictSame(decodePeers(encodePeers(places, scheme), scheme), {
    kind: 'tell',
    addresses: places,
  });
  t.match(decodeHandshake(hello, scheme), {
    kind: 'hello',
    hello: { nonce: -5n, mode: 'watcher' },
  });
  t.match(decodeQuestion(encodeQuestion(question, scheme), scheme), { timestamp: 1 });
});

t.test('handshakes', { timeout: LONG_MS }, async (t) => {
  const { party } = createParties();
  const victim = party('victim');
  await victim.listen();
  t.teardown(victim.stop);
  const rng = new Rng(8);
  const { samples } = formats.handshake;
  for (let i = 0; i < FRAMES / 100; i++) {
    victim.penalties.clearBlacklist();
    const mad = party(`mad ${i}`);
    await mad.network.listen({ host: '', port: undefined, connectionsMax: 1 });
    const signal = AbortSignal.timeout(5000);
    const connection = await mad.network.dial(victim.host, victim.port, signal);
    const stream = await connection.open('/permchain/T/hs/1.0.0', 4096, signal);
    const closed = new Promise<void>((resolve) => connection.onClose(resolve));
    for (let k = 0; k < 3; k++) stream.send(frame(rng, samples)).catch(() => {});
    stream.end().catch(() => {});
    await closed;
    await mad.stop();
  }
  t.strictSame(victim.sessions.all(), []);
});

t.test('sessions', { timeout: LONG_MS }, async (t) => {
  const { party } = createParties();
  const rng = new Rng(9);
  let refused = 0;
  const strict = ({ sessions }: Party): void => {
    const take = (message: Uint8Array): Uint8Array => {
      decodePeers(message, scheme);
      return message;
    };
    sessions.handleNotices('n/1', { messageBytesMax: 350, take: (_s, bytes) => void take(bytes) });
    sessions.handleRequests('r/1', {
      messageBytesMax: 350,
      answerBytesMax: 350,
      concurrent: 2,
      answer: async (_session, bytes) => take(bytes),
    });
  };
  const victim = party('victim');
  strict(victim);
  await victim.listen();
  t.teardown(victim.stop);
  for (let i = 0; i < FRAMES / 200; i++) {
    victim.penalties.clearBlacklist();
    const mad = party('mad');
    strict(mad);
    await mad.listen();
    const session = await mad.dial(victim);
    for (let k = 0; k < 10; k++) {
      const bytes = frame(rng, formats.peers.samples);
      if (rng.chance(2)) session.notify('n/1', bytes);
      else session.request('r/1', bytes, 1000).catch(() => {});
    }
    await until('the end of the session', () => mad.sessions.all().length === 0);
    if (victim.penalties.blacklisted().length > 0) refused++;
    await mad.stop();
    await until('the end at the victim', () => victim.sessions.all().length === 0);
  }
  t.equal(refused, FRAMES / 200, 'each of them is blacklisted');
});

const notices: readonly (readonly [protocol: string, Format])[] = [
  ['peers/1', formats.peers],
  ['head/1', formats.head],
  ['new-block/1', formats.compact],
  ['tx-hashes/1', formats.hashes],
];
/** Protocol, what is asked, what is answered. */
const requests: readonly (readonly [protocol: string, ask: Format, answer: Format])[] = [
  ['ids/1', formats.idList, formats.ids],
  ['blocks/1', formats.idList, formats.blocks],
  ['block-txs/1', formats.partsOf, formats.txs],
  ['txs/1', formats.hashes, formats.txs],
];

t.test('every protocol of a whole node', { timeout: LONG_MS }, async (t) => {
  const at = await cluster(t, { miners: ['one', 'mad'] });
  const one = await at.start('one', { knows: [] });
  const mad = await maverick(t, at, 'mad');
  const rng = new Rng(SEED);
  for (const [protocol, , answer] of requests) {
    mad.answers.set(protocol, async () => frame(rng, answer.samples));
  }
  await at.rounds(3);
  mad.pester([one]);
  const perSession = 10;
  let dropped = 0;
  for (let i = 0; i < FRAMES / 20; i += perSession) {
    one.node.services.peers!.penalties.clearBlacklist();
    for (let k = 0; k < 6 && mad.session(one) === undefined; k++) await at.seconds(1);
    const session = mad.session(one);
    if (session === undefined) throw new Error('the node is not there any more');
    for (let k = 0; k < perSession; k++) {
      const [protocol, format] = rng.chance(2) ? rng.pick(notices) : rng.pick(requests);
      const bytes = frame(rng, format.samples);
      if (notices.some(([name]) => name === protocol)) session.notify(protocol, bytes);
      else session.request(protocol, bytes, 1000).catch(() => {});
    }
    await at.seconds(1);
    if (mad.session(one) !== session) dropped++;
  }
  t.ok(dropped > (FRAMES / 20 / perSession) * 0.9, `${dropped} sessions were ended`);
  const { height } = tipOf(one);
  await at.rounds(10);
  t.ok(tipOf(one).height >= height + 4, 'the node goes on making blocks');
});

t.test('over real connections', { timeout: LONG_MS }, async (t) => {
  const { party } = createParties();
  const network = async () => libp2pNetwork((await generateKeyPair('Ed25519')).raw);
  const rng = new Rng(SEED);
  const handlers = ({ sessions }: Party): void => {
    for (const [protocol, { decode }] of notices) {
      const take = (_session: unknown, bytes: Uint8Array): void => void decode(bytes, scheme);
      sessions.handleNotices(protocol, { messageBytesMax: 100_000, take });
    }
    for (const [protocol, { decode }, { samples }] of requests) {
      sessions.handleRequests(protocol, {
        messageBytesMax: 100_000,
        answerBytesMax: 100_000,
        concurrent: 4,
        async answer(_session, bytes) {
          decode(bytes, scheme);
          return samples[0]!;
        },
      });
    }
  };
  const host = '127.0.0.1';
  const victim = party('victim', { network: await network(), host });
  handlers(victim);
  await victim.listen();
  t.teardown(victim.stop);
  const perSession = 20;
  for (let i = 0; i < FRAMES / 100; i += perSession) {
    victim.penalties.clearBlacklist();
    const mad = party('mad', { network: await network(), host });
    handlers(mad);
    await mad.listen();
    const session = await dialled(mad, victim);
    for (let k = 0; k < perSession; k++) {
      const [protocol, format] = rng.chance(2) ? rng.pick(notices) : rng.pick(requests);
      const bytes = frame(rng, format.samples);
      if (notices.some(([name]) => name === protocol)) session.notify(protocol, bytes);
      else session.request(protocol, bytes, 1000).catch(() => {});
    }
    await until('the end of the session', () => victim.sessions.all().length === 0, 60_000);
    await mad.stop();
  }
  t.pass('all are dropped');
});

/** A host may open 20 connections in a second. */
async function dialled(from: Party, to: Party) {
  for (let tries = 0; ; tries++) {
    try {
      return await from.dial(to);
    } catch (cause) {
      if (tries === 20) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}
