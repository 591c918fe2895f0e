/** Items that nobody has hold up no others, however many they are. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { Backlog } from '../../../src/privacy/fetching/fetch-backlog.ts';
import { FetchQueue } from '../../../src/privacy/fetching/fetch-queue.ts';
import { type ItemId, itemKey } from '../../../src/privacy/protocol/item-id.ts';
import { quiet, testClock } from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

/** More than one node has in memory. */
const DEAD = 6_000;
const options = { parallelism: 100, lostEveryMs: 600_000, attemptsMax: 24, firstDelayMs: 5_000 };
const random = seededRandom('a queue');
const member = new Uint8Array(26).fill(7);

const items = (policy: number, count: number): ItemId[] => {
  const policyId = new Uint8Array(32).fill(policy);
  return Array.from({ length: count }, () => ({ policyId, hash: random.bytes(32) }));
};

function* parts(all: readonly ItemId[]): Generator<readonly ItemId[]> {
  for (let from = 0; from < all.length; from += 2_000) yield all.slice(from, from + 2_000);
}

/** A clock on which no delay ever ends: an item that has failed once stays behind. */
function opened(rows = createMemoryStore()) {
  const rounds: (() => void)[] = [];
  const clock = {
    ...testClock(0),
    after(ms: number, action: () => void) {
      if (ms === options.lostEveryMs) rounds.push(action);
      return () => undefined;
    },
  };
  const backlog = new Backlog({ store: rows, clock, log: quiet });
  const held = new Set<string>();
  const silent = new Set<string>();
  const tried = new Set<string>();
  const lost: ItemId[] = [];
  let taking = Promise.resolve();
  const silence = Promise.withResolvers<void>();
  let attempts = 0;
  const queue = new FetchQueue(options, {
    ...{ backlog, clock, random, log: quiet, onLost: (item) => void lost.push(item) },
    free: () => new Map([[latin1(member), DEAD]]),
    isBusy: () => false,
    async fetch(item) {
      tried.add(itemKey(item));
      attempts++;
      const outcome = held.has(itemKey(item)) ? 'settled' : 'missing';
      await (silent.has(itemKey(item)) ? silence.promise : taking);
      return outcome;
    },
  });
  return {
    ...{ rows, queue, backlog, lost },
    hold: (all: readonly ItemId[]) => {
      for (const item of all) held.add(itemKey(item));
    },
    /** Whoever is asked for these says nothing until `speak`. */
    silence: (all: readonly ItemId[]) => {
      for (const item of all) silent.add(itemKey(item));
    },
    speak: () => silence.resolve(),
    /** What comes every ten minutes. */
    round: () => rounds.pop()?.(),
    /** How long an attempt takes. */
    slow: (promise: Promise<void>) => {
      taking = promise;
    },
    triedOf: (all: readonly ItemId[]) => all.filter((item) => tried.has(itemKey(item))).length,
    /** As many blocks would. */
    async add(all: readonly ItemId[]) {
      for (const part of parts(all)) {
        for (const item of part) queue.add(item, 0);
        await queue.idle();
      }
    },
    attempts: () => attempts,
    forgetTries: () => tried.clear(),
  };
}

t.test('a new item is tried at once, behind any number that nobody has', async (t) => {
  const at = opened();
  await at.queue.start();
  const dead = items(1, DEAD);
  await at.add(dead);
  t.equal(at.triedOf(dead), DEAD, 'each of them, too');
  const [alive] = items(9, 1) as [ItemId];
  at.hold([alive]);
  at.queue.add(alive, 0);
  await at.queue.idle();
  t.equal(at.triedOf([alive]), 1);
  await at.backlog.flush();
  t.equal(at.backlog.stateOf(alive), undefined);
  t.ok(
    dead.every((item) => at.backlog.stateOf(item) === 'pending'),
    'what gives way stays on disk',
  );
  await at.queue.stop();
});

t.test('an item on disk is tried when it is announced, or asked for', async (t) => {
  const at = opened();
  await at.queue.start();
  const dead = items(1, DEAD);
  await at.add(dead);
  for (const kind of ['retryNow', 'want'] as const) {
    at.forgetTries();
    for (const part of parts(dead)) {
      for (const item of part) at.queue[kind](item, member);
      await at.queue.idle();
    }
    t.equal(at.triedOf(dead), DEAD, kind);
  }
  at.forgetTries();
  const [unknown] = items(9, 1) as [ItemId];
  at.queue.retryNow(unknown, member);
  await at.queue.idle();
  t.equal(at.triedOf([unknown]), 0, 'what is not wanted is not');
  await at.queue.stop();
});

t.test('no announcements and connections make an item lost', async (t) => {
  const at = opened();
  await at.queue.start();
  const [item] = items(1, 1) as [ItemId];
  await at.add([item]);
  for (let i = 0; i < options.attemptsMax; i++) {
    at.queue.retryNow(item, member);
    await at.queue.idle();
    at.queue.retryAllNow(member, () => true);
    await at.queue.idle();
  }
  t.equal(at.attempts(), 1 + 2 * options.attemptsMax, 'each is an attempt');
  t.strictSame(at.lost, [], 'that does not count');
  t.equal(at.backlog.stateOf(item), 'pending');
  at.hold([item]);
  at.queue.retryNow(item, member);
  await at.queue.idle();
  t.equal(at.backlog.stateOf(item), undefined);
  await at.queue.stop();
});

t.test('a lost item is tried when it is announced', async (t) => {
  const at = opened();
  await at.queue.start();
  const [item] = items(1, 1) as [ItemId];
  at.backlog.set(item, 'lost');
  at.queue.retryNow(item, member);
  await at.queue.idle();
  t.equal(at.attempts(), 1);
  t.equal(at.backlog.stateOf(item), 'lost', 'and stays lost where nobody has it');
  await at.backlog.flush();
  at.hold([item]);
  at.queue.retryNow(item, member);
  await at.queue.idle();
  t.equal(at.backlog.stateOf(item), undefined);
  await at.queue.stop();
});

t.test('lost items that are announced leave room for what waits on disk', async (t) => {
  const before = opened();
  const [dead, alive] = [items(1, DEAD), items(2, DEAD)];
  for (const item of dead) before.backlog.set(item, 'lost');
  for (const item of alive) before.backlog.set(item, 'pending');
  await before.backlog.stop();
  const at = opened(before.rows);
  at.hold(alive);
  at.silence(dead);
  for (const item of dead) at.queue.retryNow(item, member);
  await at.queue.start();
  for (let i = 0; i < 1_000 && at.triedOf(alive) < DEAD; i++) {
    await at.backlog.flush();
    await nextTurn();
    // Again and again, while others have their turn.
    for (const item of dead.slice(0, 100)) at.queue.retryNow(item, member);
  }
  t.equal(at.triedOf(alive), DEAD);
  at.speak();
  await at.queue.stop();
});

t.test('items that a member has tried all the time leave room for those on disk', async (t) => {
  const at = opened();
  await at.queue.start();
  const [dead, alive] = [items(1, DEAD), items(2, 100)];
  await at.add(dead);
  for (const item of alive) at.backlog.set(item, 'pending');
  at.hold(alive);
  at.silence(dead);
  at.queue.retryAllNow(member, () => true);
  at.round();
  for (let i = 0; i < 10; i++) await nextTurn();
  at.speak();
  await at.queue.idle();
  t.equal(at.triedOf(alive), alive.length);
  await at.queue.stop();
});

t.test('a client does not wait for lost items of which others are silent', async (t) => {
  const at = opened();
  await at.queue.start();
  const dead = items(1, options.parallelism);
  const [wanted] = items(2, 1) as [ItemId];
  at.silence(dead);
  at.hold([wanted]);
  for (const item of [...dead, wanted]) {
    at.backlog.set(item, 'lost');
    at.queue.retryNow(item, member);
  }
  await nextTurn();
  t.equal(at.triedOf([wanted]), 0, 'an announcement waits for its turn');
  at.queue.want(wanted);
  await nextTurn();
  t.equal(at.triedOf([wanted]), 1);
  t.equal(at.backlog.stateOf(wanted), undefined);
  at.speak();
  await at.queue.stop();
});

t.test('the many of one policy displace no other policy, and after a start neither', async (t) => {
  const at = opened();
  await at.queue.start();
  const few = items(9, 100);
  for (const item of [...few, ...items(1, 2 * DEAD)]) at.queue.add(item, 0);
  await at.queue.idle();
  at.forgetTries();
  at.queue.retryAllNow(member, ({ policyId }) => policyId[0] === 9);
  await at.queue.idle();
  t.equal(at.triedOf(few), few.length, 'they are in memory');
  await at.queue.stop();
  await at.backlog.stop();

  const next = opened(at.rows);
  await next.queue.start();
  await next.queue.idle();
  t.equal(next.triedOf(few), few.length);
  await next.queue.stop();
});

t.test('the rest of a long policy follows when its holder is there', async (t) => {
  const before = opened();
  const all = items(1, DEAD);
  for (const item of all) before.backlog.set(item, 'pending');
  await before.backlog.stop();
  const at = opened(before.rows);
  at.hold(all);
  await at.queue.start();
  for (let i = 0; i < DEAD && at.triedOf(all) < DEAD; i++) {
    await at.queue.idle();
    await at.backlog.flush();
  }
  t.equal(at.triedOf(all), DEAD);
  await at.queue.stop();
});

t.test('an item that is asked for during an attempt', async (t) => {
  const cases = [
    { kind: 'want', isHeld: true, more: 1, why: 'the data may have been found damaged since' },
    { kind: 'want', isHeld: false, more: 0, why: 'it is pending' },
    { kind: 'retryNow', isHeld: true, more: 0, why: 'who announces it changes nothing' },
    { kind: 'retryNow', isHeld: false, more: 1, why: 'it may have come to it meanwhile' },
  ] as const;
  for (const { kind, isHeld, more, why } of cases) {
    const at = opened();
    await at.queue.start();
    const [item] = items(1, 1) as [ItemId];
    if (isHeld) at.hold([item]);
    let end = (): void => {};
    const taking = new Promise<void>((resolve) => {
      end = resolve;
    });
    at.slow(taking);
    at.queue.want(item);
    t.equal(at.attempts(), 1, 'one attempt, which has looked already');
    at.queue[kind](item, member);
    t.equal(at.attempts(), 1, 'no two at a time');
    end();
    await at.queue.idle();
    t.equal(at.attempts(), 1 + more, why);
    await at.queue.stop();
  }
});
