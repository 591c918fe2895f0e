import t, { type Test } from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { Announcer, type AnnouncerOptions } from '../../../src/network/gossip/announcer.ts';
import { decodeTxHashes } from '../../../src/network/messages/transaction-messages.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { scheme } from '../parties.ts';

const OPTIONS = {
  batchMax: 3,
  batchMs: 1000,
  minBroadcast: 2,
  maxBroadcast: 2,
  retryMs: 10_000,
  rebroadcastAgeMs: 60_000,
  rebroadcastEveryMs: 300_000,
};
const hash = (i: number): string => latin1(new Uint8Array(32).fill(i));

/** An announcer of a pool that holds the given hashes. */
function announcer(t: Test, ...names: string[]) {
  return announcerOf(t, OPTIONS, names);
}

function announcerOf(t: Test, options: AnnouncerOptions, names: readonly string[]) {
  const waiting = new Set(names);
  const clock = fakeClock(0);
  let isFarBehind = false;
  const entries: { hash: string; timestamp: number; announced: boolean }[] = [];
  const it = new Announcer(options, {
    scheme,
    clock,
    isFarBehind: () => isFarBehind,
    pool: { inOrder: () => entries as never },
    index: {
      hashes: () => waiting,
      waits: (name) => waiting.has(name),
      hashOf: (entry) => (entry as unknown as { hash: string }).hash,
    },
  });
  it.start();
  t.teardown(() => it.stop());
  function peer() {
    const got: string[][] = [];
    const session = {
      notify(_protocol: string, message: Uint8Array) {
        got.push(decodeTxHashes(message, scheme).map(latin1));
        return true;
      },
    };
    it.join(session);
    return { session, got };
  }
  function announce(...names: string[]): void {
    for (const name of names) {
      waiting.add(name);
      it.announce(name, false);
    }
  }
  const setFarBehind = (value: boolean): void => {
    isFarBehind = value;
  };
  return { it, clock, waiting, entries, peer, announce, setFarBehind };
}

t.test('a newcomer hears of all that waits, in batches', async (t) => {
  const { clock, peer } = announcer(t, hash(1), hash(2), hash(3), hash(4));
  const { got } = peer();
  t.strictSame(got, [[hash(1), hash(2), hash(3)]], 'a full batch goes at once');
  await clock.advance(OPTIONS.batchMs);
  t.strictSame(got[1], [hash(4)], 'the rest after a moment');
});

t.test('no batch is longer than peers take', async (t) => {
  const names = Array.from({ length: 1200 }, (_, i) => latin1(Buffer.alloc(32, `${i}.`)));
  const { clock, peer } = announcerOf(t, { ...OPTIONS, batchMax: 1000 }, names);
  const { got } = peer();
  await clock.advance(2 * OPTIONS.batchMs);
  t.strictSame(
    got.map(({ length }) => length),
    [500, 500, 200],
  );
});

t.test('until enough peers have it', async (t) => {
  const { it, clock, peer, announce } = announcer(t);
  const [a, b, c] = [peer(), peer(), peer()];
  announce(hash(1));
  await clock.advance(OPTIONS.batchMs);
  t.strictSame([a.got.length, b.got.length, c.got.length], [1, 1, 0], 'two at first');
  it.delivered(a.session, hash(1));
  await clock.advance(OPTIONS.retryMs + OPTIONS.batchMs);
  t.strictSame([a.got.length, b.got.length, c.got.length], [1, 2, 1], 'then those without it');
  it.delivered(c.session, hash(1));
  await clock.advance(3 * OPTIONS.retryMs);
  t.strictSame([a.got.length, b.got.length, c.got.length], [1, 2, 1], 'two have it');
});

t.test('a peer that has it does not hear of it', async (t) => {
  const { it, clock, peer, announce } = announcer(t);
  const { session, got } = peer();
  it.delivered(session, hash(1));
  announce(hash(1));
  announce(hash(2));
  it.delivered(session, hash(2));
  await clock.advance(OPTIONS.batchMs);
  t.strictSame(got, [], 'not even of what was about to go out');
  it.announce(hash(1), true);
  await clock.advance(OPTIONS.batchMs);
  t.strictSame(got, [[hash(1)]], 'unless it was in a block that was taken back');
});

t.test('what comes twice is announced once', async (t) => {
  const { it, clock, peer, announce } = announcer(t);
  const { got } = peer();
  announce(hash(1));
  it.announce(hash(1), true);
  await clock.advance(OPTIONS.batchMs);
  t.strictSame(got, [[hash(1)]], 'a message with a hash twice would be malformed');
});

t.test('what has left the pool is not announced', async (t) => {
  const { clock, peer, announce, waiting } = announcer(t);
  const { got } = peer();
  announce(hash(1), hash(2));
  waiting.delete(hash(1));
  await clock.advance(OPTIONS.batchMs);
  t.strictSame(got, [[hash(2)]]);
});

t.test('nothing goes out while the node is far behind', async (t) => {
  const { clock, peer, announce, setFarBehind } = announcer(t);
  const { got } = peer();
  setFarBehind(true);
  announce(hash(1), hash(2), hash(3), hash(4));
  await clock.advance(OPTIONS.batchMs);
  t.strictSame(got, []);
  setFarBehind(false);
  await clock.advance(OPTIONS.retryMs + OPTIONS.batchMs);
  t.strictSame(got.flat(), [hash(1), hash(2), hash(3), hash(4)], 'the retry makes up for it');
});

t.test('what waits for long is announced again, by the time at which it came', async (t) => {
  const { it, clock, entries, peer, announce } = announcer(t);
  const { session, got } = peer();
  const add = (i: number, timestamp: number): void => {
    entries.push({ hash: hash(i), timestamp, announced: true });
    announce(hash(i));
  };
  add(1, 2 * OPTIONS.rebroadcastEveryMs);
  await clock.advance(OPTIONS.batchMs);
  it.delivered(session, hash(1));
  await clock.advance(OPTIONS.rebroadcastEveryMs - OPTIONS.batchMs - OPTIONS.retryMs);
  add(2, 0);
  await clock.advance(OPTIONS.batchMs);
  it.delivered(session, hash(2));
  t.strictSame(got.flat(), [hash(1), hash(2)]);
  await clock.advance(OPTIONS.retryMs);
  t.strictSame(got.flat(), [hash(1), hash(2), hash(1)], 'whatever timestamp its sender chose');
});
