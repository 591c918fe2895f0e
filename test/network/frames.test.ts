/**
 * Random and mutated frames against the codecs and handlers of sessions (row R7 in short): nothing
 * but CodecError is thrown, nothing grows, and who sends them is dropped.
 */
import t from 'tap';
import { type Chain, CodecError } from '../../src/codec/codec.ts';
import {
  decodeHandshake,
  encodeAuth,
  encodeHello,
  encodeRefusal,
} from '../../src/network/messages-handshake.ts';
import {
  decodeAnswer,
  decodeQuestion,
  encodeAnswer,
  encodeQuestion,
} from '../../src/network/messages-identity.ts';
import { ASK_PEERS, decodePeers, encodeTell } from '../../src/network/messages-peers.ts';
import { Rng } from '../generators/random.ts';
import { chain, createParties, type Party, until } from './parties.ts';

const FRAMES = Number(process.env['FRAMES'] ?? 100_000);
const MIB = 1024 * 1024;

const hello = encodeHello(
  {
    version: { major: 1, minor: 1, patch: 0 },
    agent: 'platform-node',
    chainId: chain.chainId,
    genesisId: new Uint8Array(64).fill(1),
    consensusType: 'poa',
    settingsHash: new Uint8Array(32).fill(2),
    nodeName: 'a node',
    nonce: -5n,
    declaredAddress: { host: '10.0.0.1', port: 6864 },
    ownerPublicKey: new Uint8Array(32).fill(3),
    ephemeralKey: new Uint8Array(32).fill(4),
    challenge: new Uint8Array(32).fill(5),
    mode: 'watcher',
    features: ['one', 'two'],
  },
  chain,
);
const question = { address: new Uint8Array(26), timestamp: 1, signature: new Uint8Array(64) };
const places = Array.from({ length: 20 }, (_, i) => ({ host: `10.0.0.${i}`, port: 1 + i }));

const formats: readonly (readonly [(bytes: Uint8Array, chain: Chain) => unknown, Uint8Array[]])[] =
  [
    [decodeHandshake, [hello, encodeAuth(new Uint8Array(64)), encodeRefusal('no', chain)]],
    [decodePeers, [ASK_PEERS, encodeTell(places, chain)]],
    [decodeQuestion, [encodeQuestion(question, chain)]],
    [
      decodeAnswer,
      [
        encodeAnswer({ key: new Uint8Array(32) }, chain),
        encodeAnswer({ refusal: 'no-state', why: 'Invalid server state' }, chain),
      ],
    ],
  ];

/** Half of them noise, half of them valid ones with a few changes. */
function frame(rng: Rng, samples: readonly Uint8Array[]): Uint8Array {
  if (rng.chance(2)) return rng.bytes(rng.below(400));
  const bytes = rng.pick(samples).slice();
  for (let i = rng.below(4); i >= 0; i--) bytes[rng.below(bytes.length)] = rng.u32();
  return rng.chance(3) ? bytes.subarray(0, rng.below(bytes.length + 1)) : bytes;
}

t.test('codecs', async (t) => {
  const rng = new Rng(7);
  let read = 0;
  let before = 0;
  for (let i = 0; i < FRAMES; i++) {
    if (i === FRAMES / 10) before = process.memoryUsage().heapUsed;
    const [decode, samples] = formats[i % formats.length]!;
    try {
      decode(frame(rng, samples), chain);
      read++;
    } catch (cause) {
      if (!(cause instanceof CodecError)) throw cause;
    }
  }
  t.ok(read > 0 && read < FRAMES, `${read} of ${FRAMES} could be read`);
  const grown = (process.memoryUsage().heapUsed - before) / MIB;
  t.ok(grown < 64, `${Math.round(grown)} MiB more`);
});

t.test('samples are read as they were written', async (t) => {
  t.strictSame(decodePeers(encodeTell(places, chain), chain), { kind: 'tell', addresses: places });
  t.match(decodeHandshake(hello, chain), { kind: 'hello', hello: { nonce: -5n, mode: 'watcher' } });
  t.match(decodeQuestion(encodeQuestion(question, chain), chain), { timestamp: 1 });
});

t.test('handshakes', async (t) => {
  const { party } = createParties();
  const victim = party('victim');
  await victim.listen();
  t.teardown(victim.stop);
  const rng = new Rng(8);
  const [, samples] = formats[0]!;
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

t.test('sessions', async (t) => {
  const { party } = createParties();
  const rng = new Rng(9);
  let refused = 0;
  const strict = ({ sessions }: Party): void => {
    const take = (message: Uint8Array): Uint8Array => {
      decodePeers(message, chain);
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
      const bytes = frame(rng, formats[1]![1]);
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
