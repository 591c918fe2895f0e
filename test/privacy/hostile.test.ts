/**
 * A registered node that lies about confidential data, both as a member and as a non-member. Others
 * do not store its false data or answer its requests, and the members still get their data.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import t from 'tap';
import type { PeerStream } from '../../src/base/ports/network.ts';
import { chunkSealer } from '../../src/crypto/stream-cipher.ts';
import type { ConnectedSession } from '../../src/network/sessions/connected-session.ts';
import type { ItemId } from '../../src/privacy/protocol/item-id.ts';
import { itemBytes } from '../../src/privacy/protocol/item-id.ts';
import {
  DATA,
  decodeRequest,
  encodeHeader,
  encodeItems,
  encodeOffer,
  encodeRequest,
  ITEMS,
  signedByAsker,
  signedByReplier,
} from '../../src/privacy/protocol/privacy-messages.ts';
import { transferKey } from '../../src/privacy/protocol/session-key.ts';
import { family, scheme } from '../chain/chain-harness.ts';
import { seededRandom } from '../crypto/random.ts';
import type { Member } from '../network/cluster.ts';
import { type Maverick, maverick } from '../network/maverick.ts';
import { dataOf, held, members, sha256 } from './members.ts';

const random = seededRandom('a liar');
const CHUNK_BYTES = 60_000;
const LIMIT_BYTES = 20 * 1024 * 1024;

/** How an answer differs from an honest one. */
interface Lie {
  /** Instead of the data. */
  readonly data?: (genuine: Buffer) => Buffer;
  /** Of the chunks, sealed as they should be. */
  readonly chunks?: (sealed: Uint8Array[]) => Uint8Array[];
  readonly offer?: (genuine: Uint8Array) => Uint8Array;
  readonly signer?: Member;
}

const flipped = (bytes: Uint8Array): Buffer => {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1]! ^= 1;
  return copy;
};

const lies: Readonly<Record<string, Lie>> = {
  'other data of the same length': { data: flipped },
  'data without their end': { chunks: (sealed) => sealed.slice(0, -1) },
  'chunks in another order': { chunks: ([a, b, ...rest]) => [b!, a!, ...rest] },
  'a chunk with a wrong bit': { chunks: ([a, ...rest]) => [flipped(a!), ...rest] },
  'more than an item may have': { data: () => Buffer.alloc(LIMIT_BYTES + 1) },
  'an offer that its owner did not sign': { signer: { sign: () => random.bytes(64) } as never },
  'an answer that is none': { offer: () => Uint8Array.of(7) },
};

/** Answers a request as the protocol says, but for the lie. */
async function answer(
  self: Maverick,
  session: ConnectedSession,
  stream: PeerStream,
  genuine: Buffer,
  { data = (bytes) => bytes, chunks = (sealed) => sealed, offer = (bytes) => bytes, signer }: Lie,
): Promise<void> {
  const request = decodeRequest((await stream.receive())!, scheme);
  const own = family.generateKeyPair(random);
  const about = { ...request, asker: session.owner, replier: self.address };
  const signed = signedByReplier(about, request.ephemeralKey, own.publicKey);
  const signature = (signer ?? self).sign(signed);
  await stream.send(offer(encodeOffer({ ephemeralKey: own.publicKey, signature })));
  const keys = [request.ephemeralKey, own.publicKey] as const;
  const key = transferKey(family, own.privateKey, request.ephemeralKey, keys);
  const seal = chunkSealer(family, key, itemBytes(request));
  const texts = { type: 'file', filename: 'x', size: '1', author: '', comment: '' };
  const header = encodeHeader({ ...texts, sender: self.address, timestamp: 1n }, scheme);
  const plain = Buffer.concat([header, data(genuine)]);
  const sealed: Uint8Array[] = [];
  for (let at = 0; at < plain.length; at += CHUNK_BYTES) {
    const last = at + CHUNK_BYTES >= plain.length;
    sealed.push(seal({ plain: plain.subarray(at, at + CHUNK_BYTES), last }));
  }
  for (const chunk of chunks(sealed)) await stream.send(chunk);
  await stream.end();
}

for (const [name, lie] of Object.entries(lies)) {
  t.test(`scenario 92: ${name}`, async (t) => {
    const network = await members(t, { miners: ['a'], others: ['b', 'liar'] });
    // Nobody hears that the honest member has it, so the liar is asked first.
    network.faults = ({ protocol, from, message }) => ({
      lost: protocol.endsWith(ITEMS) && from === network.member('a').host && message.length > 0,
    });
    const [a, b] = [await network.keep('a'), await network.keep('b')];
    const liar = await maverick(t, network, 'liar');
    liar.pester([b]);
    await network.until('a session with the liar', () => liar.session(b) !== undefined);
    const policyId = await network.policy([a, b, liar], [a, b]);
    const bytes = randomBytes(200_000);
    const item = { policyId, hash: sha256(bytes) };
    let asked = 0;
    liar.streams.set(DATA, (session, stream) => {
      asked++;
      return answer(liar, session, stream, bytes, lie);
    });
    liar.notifyAll(ITEMS, encodeItems([item], scheme));
    await network.seconds(1);
    await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
    await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);
    t.equal(asked, 1, 'the liar was asked, once');
    t.ok((await held(b, policyId, bytes))!.equals(bytes), 'they come from the next member');
    t.match(b.log.of('peer.offence'), [{ offence: 'wrong-private-data', owner: liar.text }]);
    t.equal(liar.session(b), undefined);
    const entries = readdirSync(b.folder, { recursive: true, withFileTypes: true });
    t.equal(entries.filter((entry) => entry.isFile()).length, 1, 'nothing half stored');
  });
}

t.test('genuine data with another sender', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b', 'liar'] });
  network.faults = ({ protocol, from, message }) => ({
    lost: protocol.endsWith(ITEMS) && from === network.member('a').host && message.length > 0,
  });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const liar = await maverick(t, network, 'liar');
  liar.pester([b]);
  await network.until('a session with the liar', () => liar.session(b) !== undefined);
  const policyId = await network.policy([a, b, liar], [a, b]);
  const bytes = randomBytes(1000);
  let asked = 0;
  liar.streams.set(DATA, (session, stream) => {
    asked++;
    return answer(liar, session, stream, bytes, {});
  });
  liar.notifyAll(ITEMS, encodeItems([{ policyId, hash: sha256(bytes) }], scheme));
  await network.seconds(1);
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);
  t.equal(asked, 1, 'they came from the liar');
  const info = await b.node.services.privacy!.info(sha256(bytes), policyId);
  t.strictSame(info.sender, a.address, 'the sender is the one that the chain names');
});

t.test('what a stranger to the policy asks for', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b', 'spy'] });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  /** Requests for data as they cross the network. */
  const recorded: Uint8Array[] = [];
  const crossed: Uint8Array[] = [];
  network.faults = ({ protocol, from, message }) => {
    if (protocol.endsWith(DATA) && message.length > 0) {
      (from === b.host ? recorded : crossed).push(message.slice());
    }
    return {};
  };
  const spy = await maverick(t, network, 'spy');
  spy.pester([a]);
  await network.until('a session', () => spy.session(a) !== undefined);
  const policyId = await network.policy([a, b], [a, b]);
  const bytes = randomBytes(200_000);
  const item = { policyId, hash: sha256(bytes) };
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);

  t.notOk(
    Buffer.concat(crossed).includes(bytes.subarray(1000, 1032)),
    'below the encryption of the transport they are encrypted too',
  );

  const own = family.generateKeyPair(random);
  const about = (of: ItemId) => ({ ...of, asker: spy.address, replier: a.address });
  const request = (of: ItemId): Uint8Array => {
    const signature = spy.sign(signedByAsker(about(of), own.publicKey));
    return encodeRequest({ ...of, ephemeralKey: own.publicKey, signature });
  };
  const ask = (message: Uint8Array): Promise<Uint8Array | undefined> => {
    const asked = spy.session(a)!.converse(DATA, 10_000, async (stream) => {
      await stream.send(message);
      await stream.end();
      return stream.receive();
    });
    // A block that makes it a member would be waited for.
    const both = Promise.all([asked.catch(() => undefined), network.clock.advance(2_200)]);
    return both.then(([got]) => got);
  };
  const nothing = await ask(request(item));
  t.strictSame(nothing, Uint8Array.of(0), 'data that are there');
  const elsewhere = { policyId, hash: random.bytes(32) };
  t.strictSame(await ask(request(elsewhere)), nothing, 'data that are not');
  const nowhere = { policyId: random.bytes(32), hash: item.hash };
  t.strictSame(await ask(request(nowhere)), nothing, 'a policy that does not exist');
  t.strictSame(await ask(recorded[0]!), nothing, 'a request of a member that was recorded');
  t.ok(spy.session(a), 'it is no offence to ask');

  for (let i = 0; i < 25; i++) {
    const asked = Array.from({ length: 4 }, () =>
      spy.session(a)!.converse(DATA, 10_000, async (stream) => {
        await stream.send(request(item));
        await stream.end();
        return stream.receive();
      }),
    );
    const all = Promise.allSettled(asked);
    await network.clock.advance(2_100);
    await all;
  }
  t.equal(await ask(request(item)), undefined, 'who asks too often hears nothing any more');
  await network.seconds(61);
  t.strictSame(await ask(request(item)), nothing);

  // A stream on which nothing comes is given up, and the line goes on.
  const silent = spy.session(a)!.converse(DATA, 60_000, (stream) => stream.receive());
  const given = t.rejects(silent);
  await network.seconds(21);
  await given;
  t.strictSame(await ask(request(item)), nothing);
});

t.test('a member that asks for data and never takes them', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b', 'thief'] });
  const a = await network.keep('a');
  const thief = await maverick(t, network, 'thief');
  thief.pester([a]);
  await network.until('a session', () => thief.session(a) !== undefined);
  const policyId = await network.policy([a, thief], [a]);
  const bytes = randomBytes(15 * 1024 * 1024);
  const item = { policyId, hash: sha256(bytes) };
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.seconds(5);
  const offers: number[] = [];
  const ask = (): Promise<unknown> => {
    const own = family.generateKeyPair(random);
    const about = { ...item, asker: thief.address, replier: a.address };
    const signature = thief.sign(signedByAsker(about, own.publicKey));
    return thief.session(a)!.converse(DATA, 60_000, async (stream) => {
      await stream.send(encodeRequest({ ...item, ephemeralKey: own.publicKey, signature }));
      if ((await stream.receive()) !== undefined) offers.push(network.clock.monotonic());
      throw new Error('it leaves');
    });
  };
  for (let asked = 1; asked <= 12; asked++) {
    const leaving = t.rejects(ask());
    await network.until(`offer ${asked}`, () => offers.length === asked);
    await leaving;
  }
  const took = offers.at(-1)! - offers[0]!;
  // 16 MiB a second, and two seconds' worth at once.
  t.ok(took > 6_000, `180 MiB were read and hashed within ${took} ms`);
});

t.test('a request of one member, sent by another', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b', 'thief'] });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const recorded: Uint8Array[] = [];
  network.faults = ({ protocol, from, message }) => {
    const isRequest = protocol.endsWith(DATA) && from === b.host && message.length > 0;
    if (isRequest) recorded.push(message.slice());
    return {};
  };
  const thief = await maverick(t, network, 'thief');
  thief.pester([a]);
  await network.until('a session', () => thief.session(a) !== undefined);
  const policyId = await network.policy([a, b, thief], [a, b]);
  const bytes = randomBytes(10_000);
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);
  const replayed = thief.session(a)!.converse(DATA, 10_000, async (stream) => {
    await stream.send(recorded[0]!);
    return stream.receive();
  });
  const failed = t.rejects(replayed);
  await network.seconds(3);
  await failed;
  t.match(a.log.of('peer.offence'), [{ offence: 'malformed-message', owner: thief.text }]);
});

t.test(
  'a member that announces what it does not have, and connects, again and again',
  async (t) => {
    const network = await members(t, { miners: ['a'], others: ['b', 'd', 'liar'] });
    const [a, b, d] = [await network.keep('a'), await network.keep('b'), await network.keep('d')];
    const liar = await maverick(t, network, 'liar');
    liar.pester([b, d]);
    await network.until('a session with the liar', () => liar.session(b) !== undefined);
    liar.streams.set(DATA, async (_session, stream) => {
      await stream.receive();
      await stream.send(Uint8Array.of(0));
      await stream.end();
    });
    const policyId = await network.policy([a, b, d, liar], [a, b, d]);
    // Who has the items keeps them from all others.
    network.faults = ({ protocol, from }) => ({
      lost: from === a.host && (protocol.endsWith(DATA) || protocol.endsWith(ITEMS)),
    });
    const items: ItemId[] = [];
    for (let i = 0; i < 10; i++) {
      const bytes = randomBytes(100);
      items.push({ policyId, hash: sha256(bytes) });
      await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
    }
    await network.rounds(2);
    await a.stop();
    // Until the next try is some minutes away.
    await network.seconds(900);
    const asked = { d: 0, liar: 0 };
    network.faults = ({ protocol, from, to, message }) => {
      const isRequest = protocol.endsWith(DATA) && from === b.host && message.length > 0;
      if (isRequest) asked[to === d.host ? 'd' : 'liar']++;
      return {};
    };
    for (let i = 0; i < 100; i++) {
      liar.notifyAll(ITEMS, encodeItems(items, scheme));
      await network.clock.advance(100);
    }
    for (let i = 0; i < 5; i++) {
      liar.session(b)!.close('it comes again');
      await network.until('it is back', () => liar.session(b) !== undefined);
      await network.seconds(1);
    }
    t.ok(asked.liar > 50, `it is asked ${asked.liar} times`);
    t.ok(asked.d < 100, `and the honest one ${asked.d} times`);
  },
);
