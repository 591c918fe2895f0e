/**
 * One attempt to fetch an item: what the chain says is looked at again before each peer is asked,
 * and a node that cannot store the item blames nobody.
 */
import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { filesShelf } from '../../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../../src/adapters/private-store/verified.ts';
import { AssertionError } from '../../../src/base/assert.ts';
import { latin1 } from '../../../src/base/bytes.ts';
import { NeverBegun, TooLate } from '../../../src/base/deadline.ts';
import type { PeerStream } from '../../../src/base/ports/network.ts';
import {
  type PrivateItem,
  type PrivateStore,
  storageFailed,
} from '../../../src/base/ports/private-store.ts';
import { chunkSealer } from '../../../src/crypto/stream-cipher.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import {
  addMembers,
  bindHash,
  createPolicy,
  RECIPIENT,
  removeMembers,
} from '../../../src/ledger/policies.ts';
import { policyHashes } from '../../../src/ledger/tables.ts';
import { STREAMS_MIN } from '../../../src/network/sessions/protocols.ts';
import { createFetch, type FetchPorts } from '../../../src/privacy/fetching/fetch-item.ts';
import { askedAtOnce, Sources, STREAMS } from '../../../src/privacy/fetching/item-sources.ts';
import type { Received } from '../../../src/privacy/fetching/receive-item.ts';
import { itemBytes } from '../../../src/privacy/protocol/item-id.ts';
import type { Peer } from '../../../src/privacy/protocol/peer-ports.ts';
import {
  decodeRequest,
  encodeHeader,
  encodeOffer,
  NO_DATA,
  signedByReplier,
} from '../../../src/privacy/protocol/privacy-messages.ts';
import { transferKey } from '../../../src/privacy/protocol/session-key.ts';
import {
  account,
  family,
  newChain,
  scheme,
  testClock,
  verifier,
} from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';
import { sha256 } from '../members.ts';

const random = seededRandom('an attempt');
const [self, other] = [account('who fetches'), account('who has it')];
const bytes = randomBytes(100);
const item = { policyId: new Uint8Array(32).fill(1), hash: sha256(bytes) };

type Message = Uint8Array | Error | Promise<never>;
type Answer = (request: Uint8Array) => readonly Message[];

/** The messages of an honest member, the data in one chunk. */
const honest: Answer = (message) => answered(message, true);

/** The same, and more is announced that does not come. */
const unending: Answer = (message) => [...answered(message, false), new Promise(() => {})];

function answered(message: Uint8Array, last: boolean): readonly Uint8Array[] {
  const request = decodeRequest(message, scheme);
  const own = family.generateKeyPair(random);
  const about = { ...request, asker: self.address, replier: other.address };
  const signature = other.sign(signedByReplier(about, request.ephemeralKey, own.publicKey));
  const keys = [request.ephemeralKey, own.publicKey] as const;
  const key = transferKey(family, own.privateKey, request.ephemeralKey, keys);
  const texts = { type: 'file', filename: 'x', size: '1', author: '', comment: '' };
  const header = encodeHeader({ ...texts, sender: other.address, timestamp: 1n }, scheme);
  const chunk = { plain: Buffer.concat([header, bytes]), last };
  const seal = chunkSealer(family, key, itemBytes(request));
  return [encodeOffer({ ephemeralKey: own.publicKey, signature }), seal(chunk)];
}

async function opened(
  t: Test,
  storing: Partial<PrivateStore> = {},
  limit?: Awaited<ReturnType<FetchPorts['refusal']>>,
) {
  const { blockchain } = await newChain();
  const view = createOverlay(blockchain.view);
  createPolicy(view, item.policyId, { name: 'papers', description: '' });
  addMembers(view, item.policyId, RECIPIENT, [self.address]);
  bindHash(view, item.policyId, item.hash, {
    transaction: new Uint8Array(32),
    sender: other.address,
  });
  const offences: string[] = [];
  const failed: Uint8Array[] = [];
  const busy: Uint8Array[] = [];
  const slow: Uint8Array[] = [];
  const withdrawn: Uint8Array[] = [];
  const of: Partial<Record<Received, Uint8Array[]>> = { failed, busy, slow, nothing: withdrawn };
  const ask = { isEnough: false };
  let asked = 0;
  let rooms = 0;
  let found = 0;
  const answers: Answer[] = [];
  const peer = (): Peer => ({
    owner: other.address,
    ownerPublicKey: other.publicKey,
    mode: 'default',
    notify: () => true,
    offend: (offence) => void offences.push(offence),
    converse(_protocol, _timeoutMs, action) {
      let left: Message[] = [];
      const answer = answers[asked++]!;
      const stream = {
        async send(message: Uint8Array) {
          left = [...answer(message)];
        },
        end: async () => {},
        async receive() {
          const next = left.shift();
          if (next instanceof Error) throw next;
          return next;
        },
      };
      return action(stream as unknown as PeerStream);
    },
  });
  const log = memoryLog();
  const store = { ...verifiedStore(filesShelf(temporaryFolder(t)), log), ...storing };
  const fetch = createFetch(1000, {
    ...{ view, store, scheme, family, verifier, random, log, owner: self, clock: testClock(0) },
    sources: {
      of: () => answers.map(peer),
      ask: (_item, owner) =>
        ask.isEnough ? undefined : (received) => void of[received]?.push(owner),
    },
    async refusal() {
      rooms++;
      return limit;
    },
    found: async () => void found++,
    onStored: () => {},
  });
  return {
    view,
    offences,
    ...{ ask, failed, slow, busy, withdrawn },
    asked: () => asked,
    /** How often room was looked for. */
    rooms: () => rooms,
    found: () => found,
    attempt(...of: readonly (Answer | ReadonlySet<string>)[]) {
      answers.push(...of.filter((one) => typeof one === 'function'));
      return fetch(
        item,
        of.find((one) => typeof one !== 'function'),
      );
    },
  };
}

t.test('an item is stored, and nobody else is asked', async (t) => {
  const at = await opened(t);
  t.equal(await at.attempt(honest, honest), 'settled');
  t.strictSame([at.asked(), at.found()], [1, 0]);
  t.equal(await at.attempt(honest), 'settled');
  t.strictSame([at.asked(), at.found()], [1, 1], 'what is stored is counted');
});

t.test('an item that turns out to be damaged is fetched', async (t) => {
  let looks = 0;
  const damaged = { policyId: item.policyId, hash: item.hash } as PrivateItem;
  const at = await opened(t, { info: async () => (looks++ === 0 ? damaged : undefined) });
  t.equal(await at.attempt(honest), 'settled');
  t.strictSame([at.asked(), at.found()], [1, 1]);
});

t.test('an item that is not wanted is asked for nowhere', async (t) => {
  for (const lose of [leave, unbind]) {
    const at = await opened(t);
    lose(at);
    t.equal(await at.attempt(honest), 'settled');
    t.strictSame([at.asked(), at.rooms()], [0, 0], lose.name);
  }
});

t.test('nor is one that this node may not keep', async (t) => {
  for (const [limit, outcome] of [
    ['not-accepted', 'settled'],
    ['quota', 'no-room'],
    ['unknown', 'no-room'],
  ] as const) {
    const at = await opened(t, {}, limit);
    t.equal(await at.attempt(honest), outcome);
    t.equal(at.asked(), 0, limit);
  }
});

t.test('nor at the next peer, once it is not wanted any more', async (t) => {
  const at = await opened(t);
  const without: Answer = () => {
    leave(at);
    return [NO_DATA];
  };
  t.equal(await at.attempt(without, honest), 'settled');
  t.equal(at.asked(), 1);
  t.strictSame(at.failed, [], 'to have nothing is no failure');
});

t.test('data whose hash has left the chain are not stored', async (t) => {
  const at = await opened(t);
  const late: Answer = (request) => {
    unbind(at);
    return honest(request);
  };
  t.equal(await at.attempt(late), 'missing');
  t.strictSame([at.withdrawn, at.failed, at.offences], [[other.address], [], []]);
});

t.test('a peer that says nothing has failed', async (t) => {
  const at = await opened(t);
  t.equal(await at.attempt(() => [], honest), 'settled', 'the next one has it');
  t.strictSame([at.failed, at.offences], [[other.address], []]);
});

t.test('wrong data are the fault of the peer that sends them', async (t) => {
  const at = await opened(t);
  const wrong: Answer = (request) => [honest(request)[0]!, randomBytes(100)];
  t.equal(await at.attempt(wrong, honest), 'settled', 'the next one has it');
  t.strictSame([at.failed, at.offences], [[other.address], ['wrong-private-data']]);
});

t.test('a holder that is busy has done nothing wrong', async (t) => {
  const aborted = new Error('the stream was aborted');
  for (const cause of [new TooLate('late'), new NeverBegun('others wait'), aborted]) {
    const at = await opened(t);
    t.equal(await at.attempt(() => [cause], honest), 'settled', 'others are asked');
    t.strictSame([at.busy, at.failed, at.offences], [[other.address], [], []]);
  }
  const at = await opened(t);
  const trickle: Answer = (request) => [honest(request)[0]!, new TooLate('late')];
  t.equal(await at.attempt(trickle), 'missing', 'one that has begun has promised the rest');
  t.strictSame([at.busy, at.failed, at.slow], [[], [], [other.address]]);
  t.strictSame(at.offences, ['unanswered-request']);
  const without = await opened(t);
  t.equal(await without.attempt(() => [NO_DATA]), 'missing');
  t.strictSame([without.withdrawn, without.failed], [[other.address], []]);
});

t.test('only those are asked that are named', async (t) => {
  const at = await opened(t);
  t.equal(await at.attempt(new Set(['others']), honest), 'missing');
  t.equal(at.asked(), 0);
  t.equal(await at.attempt(new Set([latin1(other.address)]), honest), 'settled');
  t.equal(at.asked(), 1);
});

async function sourcesOf(members: number) {
  const { blockchain } = await newChain();
  const view = createOverlay(blockchain.view);
  const accounts = Array.from({ length: members }, (_, i) => account(`member ${i}`));
  createPolicy(view, item.policyId, { name: 'papers', description: '' });
  const addresses = accounts.map(({ address }) => address);
  addMembers(view, item.policyId, RECIPIENT, addresses);
  const peers = addresses.map((owner) => ({ owner, mode: 'default' }) as Peer);
  const clock = testClock(0);
  const free: number[] = [];
  const sources = new Sources(
    { failedMax: 10, failedMs: 1000, askedAtOnce: STREAMS },
    {
      ...{ peers: { all: () => peers }, view, clock, random },
      onFree: (_owner, count) => void free.push(count),
    },
  );
  const answers = (peer: Peer, received: Received): void =>
    sources.ask(item, peer.owner)?.(received);
  return { sources, peers, clock, free, answers };
}

t.test('busy peers are asked after the others', async (t) => {
  const { sources, peers, clock, answers } = await sourcesOf(6);
  const [a, b, c] = peers as [Peer, Peer, Peer];
  const order = (): number[] => sources.of(item).map((one) => peers.indexOf(one));
  for (const { owner } of [a, b, c]) sources.announced(item, owner);
  answers(a, 'busy');
  answers(b, 'nothing');
  t.strictSame([order()[0], order().at(-1), order().length], [2, 0, 6]);
  answers(c, 'busy');
  t.strictSame(order().slice(-2).sort(), [0, 2]);
  sources.clearFailure(c.owner);
  t.strictSame(order().slice(-2).sort(), [0, 2], 'also when it has come again');
  clock.time += 1001;
  t.strictSame(order().slice(0, 2).sort(), [0, 2], 'for a while');
  for (const peer of [a, b]) answers(peer, 'failed');
  answers(c, 'slow');
  t.equal(order().length, 3);
  for (const { owner } of [a, b, c]) sources.clearFailure(owner);
  t.strictSame([order().length, order().includes(2)], [5, false], 'it stays slow');
  clock.time += 1001;
  t.equal(order().length, 6);
});

t.test('a peer is asked for no more items than a session has streams', async (t) => {
  t.equal(STREAMS, STREAMS_MIN);
  const { sources, peers, free } = await sourcesOf(2);
  const [{ owner }, other] = peers as [Peer, Peer];
  const ends = Array.from({ length: STREAMS }, () => sources.ask(item, owner)!);
  t.equal(sources.ask(item, owner), undefined);
  t.ok(sources.ask(item, other.owner), 'others are asked');
  for (const outcome of ['busy', 'stored'] as const) ends.pop()!(outcome);
  t.strictSame(free, [1, 2]);
  for (const _ of free) t.ok(sources.ask(item, owner));
  t.equal(sources.ask(item, owner), undefined);
  const left = () => [owner, other.owner].map((one) => sources.free().get(latin1(one)));
  t.strictSame(left(), [0, STREAMS - 1]);
  ends.pop()!('failed');
  t.strictSame(left(), [undefined, STREAMS - 1], 'who has failed is not asked');
  peers.length = 1;
  t.strictSame(left(), [undefined, undefined], 'nor who has gone');
});

t.test('silent peers leave places, however few there are', (t) => {
  t.equal(askedAtOnce(100, 5), STREAMS);
  t.equal(askedAtOnce(20, 5), 2, 'lost items have five places');
  t.equal(askedAtOnce(4, 5), 1);
  t.equal(askedAtOnce(100, 1), 1, 'others would wait for the stream, and fail');
  t.end();
});

t.test('an item whose only source is asked enough is held', async (t) => {
  const at = await opened(t);
  at.ask.isEnough = true;
  t.strictSame(await at.attempt(honest), { heldBy: new Set([latin1(other.address)]) });
  t.equal(at.asked(), 0);
});

t.test(
  'a storage that is full or slow is no fault of the peer, and all others are spared',
  async (t) => {
    for (const cause of [storageFailed('full'), new TooLate('the storage took all the time')]) {
      const at = await opened(t, { write: () => Promise.reject(cause) });
      t.equal(await at.attempt(honest, honest), 'missing');
      t.strictSame([at.asked(), at.failed, at.offences], [1, [], []]);
    }
  },
);

t.test('nor is one that fails while it waits for the peer', async (t) => {
  const reset = Object.assign(new Error('the storage has gone'), { syscall: 'write' });
  for (const cause of [storageFailed('full'), reset]) {
    const at = await opened(t, {
      async write(_item, pieces) {
        const { value } = await pieces[Symbol.asyncIterator]().next();
        t.same(value, bytes);
        // The next piece is asked for while this one is written.
        void pieces[Symbol.asyncIterator]().next();
        await setImmediate();
        throw cause;
      },
    });
    t.equal(await at.attempt(unending, honest), 'missing');
    t.strictSame([at.asked(), at.failed, at.offences], [1, [], []]);
  }
});

t.test('nor is one that cannot say what it has', async (t) => {
  const at = await opened(t, { info: () => Promise.reject(storageFailed('broken')) });
  t.equal(await at.attempt(honest), 'missing');
  t.equal(at.asked(), 0);
});

t.test('a fault of this node stops it', async (t) => {
  const at = await opened(t, { write: () => Promise.reject(new AssertionError('wrong')) });
  await t.rejects(at.attempt(honest, honest), AssertionError);
});

type Opened = Awaited<ReturnType<typeof opened>>;

function leave({ view }: Opened): void {
  removeMembers(view, item.policyId, RECIPIENT, [self.address]);
}

function unbind({ view }: Opened): void {
  view.remove(policyHashes, [item.policyId, item.hash]);
}
