/**
 * Scenario 102, over real connections: unknown hosts that are slow, silent, send too much or send
 * random bytes.
 */
import { type Socket, connect as tcpConnect } from 'node:net';
import { generateKeyPair } from '@libp2p/crypto/keys';
import { noise } from '@libp2p/noise';
import { tcp } from '@libp2p/tcp';
import { yamux } from '@libp2p/yamux';
import { multiaddr } from '@multiformats/multiaddr';
import { createLibp2p } from 'libp2p';
import t, { type Test } from 'tap';
import { libp2pNetwork } from '../../src/adapters/libp2p/transport.ts';
import { Rng } from '../generators/random.ts';
import { eventually } from '../system/e2e/process.ts';
import { createParties, type Party, type PartyOptions, until } from './parties.ts';

t.setTimeout(60_000);

const MIB = 1024 * 1024;
const HOST = '127.0.0.1';
const HANDSHAKE = '/permchain/T/hs/1.0.0';

async function victim(t: Test, options: PartyOptions = {}): Promise<Party> {
  const { raw } = await generateKeyPair('Ed25519');
  const network = libp2pNetwork(raw);
  const party = createParties().party('victim', { network, host: HOST, ...options });
  await party.listen();
  t.teardown(party.stop);
  return party;
}

function stranger(
  t: Test,
  party: Party,
  localAddress = HOST,
): { socket: Socket; closed: Promise<number> } {
  const since = Date.now();
  const socket = tcpConnect({ port: party.port, host: HOST, localAddress });
  socket.on('error', () => {});
  socket.resume();
  t.teardown(() => socket.destroy());
  const closed = new Promise<number>((resolve) => {
    socket.on('close', () => resolve(Date.now() - since));
  });
  return { socket, closed };
}

type Muxers = ReturnType<ReturnType<typeof yamux>>;
type Raw = Parameters<Muxers['createStreamMuxer']>[0];

/** A node of libp2p that is mad above the encryption, if `mad` is given. */
async function plainNode(t: Test, mad?: (raw: Raw) => void) {
  const make = yamux();
  const node = await createLibp2p({
    transports: [tcp()],
    connectionEncrypters: [noise()],
    connectionMonitor: { enabled: false },
    streamMuxers: [
      (...args: Parameters<typeof make>) => {
        const muxers = make(...args);
        const create = muxers.createStreamMuxer.bind(muxers);
        return Object.assign(muxers, {
          createStreamMuxer(raw: Raw) {
            const muxer = create(raw);
            mad?.(raw);
            return muxer;
          },
        });
      },
    ],
  });
  t.teardown(() => node.stop());
  return node;
}

async function attacker(t: Test, party: Party, mad?: (raw: Raw) => void) {
  const node = await plainNode(t, mad);
  // A host may open 20 connections in a second, and all of these tests are one host.
  const connection = await eventually('a connection', () =>
    node.dial(multiaddr(`/ip4/${HOST}/tcp/${party.port}`)).catch(() => undefined),
  );
  const closed = new Promise<void>((resolve) => {
    if (connection.status !== 'open') resolve();
    connection.addEventListener('close', () => resolve());
  });
  return { node, connection, closed };
}

async function isAlive(t: Test, party: Party): Promise<void> {
  const { connection } = await attacker(t, party);
  const stream = await connection.newStream(HANDSHAKE);
  t.equal(stream.status, 'open', 'others are served');
}

t.test('scenario 102: silent, slow and mad before the encryption', async (t) => {
  const party = await victim(t);
  const silent = stranger(t, party);
  const slow = stranger(t, party);
  const drip = setInterval(() => slow.socket.write(Uint8Array.of(19)), 1000);
  t.teardown(() => clearInterval(drip));
  const rng = new Rng(1);
  const mad = Array.from({ length: 15 }, () => {
    const one = stranger(t, party);
    one.socket.write(rng.bytes(1 + rng.below(5000)));
    return one;
  });
  for (const { closed } of mad) t.ok((await closed) < 12_000);
  t.ok((await silent.closed) < 12_000, 'who says nothing');
  t.ok((await slow.closed) < 12_000, 'who says one byte a second');
  await isAlive(t, party);
});

t.test('scenario 102: silent and slow after the encryption', async (t) => {
  const party = await victim(t, { sessions: { handshakeMs: 2000 } });
  const silent = await attacker(t, party);
  const slow = await attacker(t, party);
  const stream = await slow.connection.newStream(HANDSHAKE);
  const drip = setInterval(() => {
    if (stream.status === 'open') stream.send(Uint8Array.of(0));
  }, 1000);
  t.teardown(() => clearInterval(drip));
  await silent.closed;
  await slow.closed;
  await until('a line in the log', () => party.log.of('peer.refused').length > 0);
  t.match(party.log.of('peer.refused'), [{ why: 'Timeout expired while waiting for handshake' }]);
});

t.test('scenario 102: a frame of 101 MiB', async (t) => {
  const party = await victim(t);
  // Code and connections are there before the memory is measured.
  await isAlive(t, party);
  const before = process.memoryUsage().rss;

  t.test('of the handshake', async () => {
    const { connection, closed } = await attacker(t, party);
    const stream = await connection.newStream(HANDSHAKE);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(101 * MIB);
    stream.send(length);
    await closed;
  });

  t.test('of the multiplexer', async () => {
    const header = Buffer.alloc(12);
    header.writeUInt32BE(1, 4);
    header.writeUInt32BE(101 * MIB, 8);
    const { closed } = await attacker(t, party, (raw) => {
      raw.send(header);
      const more = setInterval(() => {
        if (raw.status === 'open') raw.send(Buffer.alloc(64 * 1024));
      }, 1);
      t.teardown(() => clearInterval(more));
    });
    await closed;
  });

  t.test('the memory is as before', async (t) => {
    const grown = (process.memoryUsage().rss - before) / MIB;
    t.ok(grown < 60, `${Math.round(grown)} MiB more`);
    await isAlive(t, party);
  });
});

t.test('scenario 102: random bytes above the encryption', async (t) => {
  const party = await victim(t);
  const rng = new Rng(2);
  for (let i = 0; i < 20; i++) {
    const { closed, node } = await attacker(t, party, (raw) => {
      const send = (): void => {
        if (raw.status === 'open') raw.send(rng.bytes(12 + rng.below(2000)));
      };
      send();
      const more = setInterval(send, 1);
      t.teardown(() => clearInterval(more));
    });
    await closed;
    await node.stop();
  }
  await isAlive(t, party);
});

t.test('many connections of one host', async (t) => {
  const party = await victim(t);
  const all = Array.from({ length: 200 }, () => stranger(t, party));
  const early = await Promise.all(
    all.map(({ closed }) => Promise.race([closed, new Promise((r) => setTimeout(r, 3000, -1))])),
  );
  t.ok(early.filter((ms) => ms !== -1).length >= 130, 'most are refused at once');
});

t.test('silent connections of one host do not keep others out', async (t) => {
  for (const host of [HOST, '127.0.0.2']) {
    const party = await victim(t);
    const silent = setInterval(() => stranger(t, party, host), 1000 / 14);
    t.teardown(() => clearInterval(silent));
    // Until there are more of them than places.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    for (let i = 0; i < 4; i++) {
      const node = await plainNode(t);
      const connection = await node.dial(multiaddr(`/ip4/${HOST}/tcp/${party.port}`));
      t.equal((await connection.newStream(HANDSHAKE)).status, 'open', `${i + 1}, beside ${host}`);
      await node.stop();
    }
    clearInterval(silent);
  }
});

t.test('streams before the handshake hold nothing', async (t) => {
  const party = await victim(t, {
    prepare: (sessions) =>
      sessions.handleRequests('r/1', {
        messageBytesMax: MIB,
        answerBytesMax: 1,
        concurrent: 100,
        answer: async () => new Uint8Array(0),
      }),
  });
  const { connection } = await attacker(t, party);
  const stream = await connection.newStream('/permchain/T/r/1');
  await eventually('the reset', () => (stream.status === 'open' ? undefined : true));
  await isAlive(t, party);
});
