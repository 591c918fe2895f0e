/** Items that wait for members that have enough to answer: they take no places, and no time of others. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { HeldJobs, type Holdable } from '../../../src/privacy/fetching/held-jobs.ts';
import { type ItemId, itemKey } from '../../../src/privacy/protocol/item-id.ts';

import {
  HOUR_MS,
  items,
  MINUTE_MS,
  opened,
  options,
  other,
  silent,
  third,
} from './asked-members.ts';

t.test('a held item goes on when its member has fewer to answer', async (t) => {
  const { queue, clock, lost, since, set } = opened([[silent, 'full']]);
  const [a, b] = items(1, 2) as [ItemId, ItemId];
  const [keyA, keyB] = [a, b].map(itemKey);
  t.strictSame(await since(() => [a, b].forEach((item) => void queue.add(item, 0))), [keyA, keyB]);
  t.strictSame(await since(() => queue.retryHeld(silent, 1)), [keyA]);
  t.strictSame(await since(() => queue.retryHeld(silent, 5)), [keyB, keyA], 'in turn, each once');
  t.strictSame(await since(() => queue.retryHeld(other, 5)), [], 'not for others');
  t.strictSame(await since(() => queue.want(b)), [keyB], 'asked for');
  const isAny = () => true;
  t.strictSame(await since(() => queue.retryAllNow(silent, isAny)), [], 'not for who is busy');
  t.strictSame(await since(() => queue.retryNow(a, silent)), []);
  t.strictSame(await since(() => queue.retryNow(a, other)), [keyA], 'another one may have it');
  for (let i = 0; i < options.attemptsMax; i++) await since(() => queue.retryHeld(silent, 3));
  t.strictSame([lost, queue.sizes().transfers], [[], 0], 'none of these is an attempt');
  queue.drop(a);
  t.strictSame(await since(() => queue.retryHeld(silent, 3)), [keyB]);
  set(silent, 'has');
  queue.retryHeld(silent, 1);
  await queue.idle();
  t.equal(queue.sizes().new, 0);
  set(silent, 'full');
  queue.add(a, 0);
  await queue.idle();
  await queue.stop();
  // The list on disk is written.
  await clock.advance(5_000);
  t.equal(clock.timers(), 0, 'a stopped queue leaves no timer');
});

t.test('who has said that it lacks a held item is seldom asked again', async (t) => {
  const at = opened([
    [other, 'nothing'],
    [silent, 'full'],
  ]);
  const all = items(1, 20);
  for (const item of all) at.queue.add(item, 0);
  await at.queue.idle();
  t.equal(at.askedOf(other), all.length);
  at.queue.retryHeld(silent, 100);
  await at.queue.idle();
  t.equal(at.askedOf(other), all.length, 'it is not asked when the other one has answered');
  await at.clock.advance(24 * HOUR_MS);
  const aDay = at.askedOf(other) / all.length;
  t.ok(aDay > 100, `${aDay} times a day, so whatever changes unheard is noticed`);
  t.ok(aDay < 160, `${aDay} times a day, not every minute`);
  t.strictSame(at.lost, []);
  await at.queue.stop();
});

t.test('a member that is free again is asked, though nobody said so', async (t) => {
  const at = opened([[silent, 'full']]);
  const all = items(1, 3);
  for (const item of all) at.queue.add(item, 0);
  await at.queue.idle();
  at.set(silent, 'has');
  at.free.set(latin1(silent), 2);
  await at.clock.advance(MINUTE_MS / 2);
  t.equal(at.askedOf(silent), 2);
  at.queue.retryAllNow(silent, () => true);
  await at.queue.idle();
  t.equal(at.askedOf(silent), 3, 'or when it connects');
  await at.queue.stop();
});

t.test('a lost item that is held leaves room for others', async (t) => {
  const at = opened([[silent, 'full']]);
  await at.queue.start();
  const dead = items(0x40, 3_000);
  for (const item of dead) at.backlog.set(item, 'lost');
  await at.clock.advance(options.lostEveryMs);
  t.equal(at.queue.sizes().lost, 2_500, 'all room is taken');
  const [announced, alone] = [items(0x80, 1), items(0xc0, 1)].flat() as [ItemId, ItemId];
  for (const item of [announced, alone]) at.backlog.set(item, 'lost');
  const tried = await at.since(() => at.queue.retryNow(announced, other));
  t.strictSame(tried, [itemKey(announced)]);
  at.tried.length = 0;
  await at.clock.advance(HOUR_MS);
  t.ok(at.tried.includes(itemKey(alone)), 'one that nobody announces has its turn');
  t.ok(at.queue.sizes().lost <= 2_525, 'with those that have places');
  await at.queue.stop();
});

t.test('a lost item that is held stays lost, whoever announces it', async (t) => {
  const at = opened([
    [silent, 'full'],
    [other, 'nothing'],
  ]);
  const [item] = items(1, 1) as [ItemId];
  at.backlog.set(item, 'lost');
  at.queue.retryNow(item, silent);
  await at.queue.idle();
  t.equal(at.queue.sizes().lost, 1, 'it is held');
  for (let i = 0; i < 3; i++) {
    at.queue.retryNow(item, other);
    await at.queue.idle();
    await at.clock.advance(1_000);
  }
  t.equal(at.askedOf(other), 3);
  t.strictSame([at.queue.sizes().pending, at.lost], [0, []], 'it is not lost once more');
  await at.queue.stop();
});

t.test('new items take the places of held ones first', async (t) => {
  const at = opened([[silent, 'full']]);
  const few = items(9, 10);
  at.set(silent, 'nothing');
  for (const item of few) at.queue.add(item, 0);
  await at.queue.idle();
  at.set(silent, 'full');
  for (let i = 0; i < 6; i++) {
    for (const item of items(1, 1_000)) at.queue.add(item, 0);
    await at.queue.idle();
  }
  t.equal(at.queue.sizes().pending, few.length);
  await at.queue.stop();
});

t.test('who announces an item or connects is asked, and nobody else', async (t) => {
  const at = opened([
    [other, 'nothing'],
    [third, 'nothing'],
  ]);
  const all = items(1, 10);
  for (const item of all) at.queue.add(item, 0);
  await at.queue.idle();
  at.free.set(latin1(other), all.length);
  at.asked.length = 0;
  for (let i = 0; i < 10; i++) {
    for (const item of all) at.queue.retryNow(item, other);
    await at.queue.idle();
    at.queue.retryAllNow(other, () => true);
    await at.queue.idle();
  }
  t.strictSame([at.askedOf(other), at.askedOf(third)], [200, 0]);
  await at.clock.advance(5_000);
  t.equal(at.askedOf(third), 10, 'all are asked when it is time');
  await at.queue.stop();
});

t.test('who connects again and again has few items tried', async (t) => {
  const at = opened([[other, 'nothing']]);
  const all = items(1, 1_000);
  for (const item of all) at.queue.add(item, 0);
  await at.queue.idle();
  at.set(other, 'full');
  at.free.set(latin1(other), 5);
  at.tried.length = 0;
  for (let i = 0; i < 20; i++) {
    at.queue.retryAllNow(other, () => true);
    await at.queue.idle();
  }
  t.equal(at.tried.length, 100);
  at.set(other, 'nothing');
  at.queue.retryHeld(other, 1_000);
  await at.queue.idle();
  t.equal(at.askedOf(other), 2_000, 'each has its turn');
  t.equal(at.queue.sizes().pending, 1_000);
  await at.queue.stop();
});

t.test('who announces an item while another one is asked for it is asked, too', async (t) => {
  const at = opened([
    [silent, 'nothing'],
    [other, 'nothing'],
  ]);
  const [item] = items(1, 1) as [ItemId];
  at.queue.add(item, 0);
  await at.queue.idle();
  at.set(silent, 'mute');
  at.queue.retryNow(item, silent);
  await nextTurn();
  at.set(other, 'has');
  for (const member of [silent, other]) at.queue.retryNow(item, member);
  at.speak();
  await at.queue.idle();
  t.strictSame([at.askedOf(silent), at.askedOf(other)], [2, 2]);
  t.equal(at.queue.sizes().pending, 0, 'it has come');
  await at.queue.stop();
});

t.test('who announces an item while all are asked for it is asked afterwards', async (t) => {
  const at = opened([
    [other, 'nothing'],
    [silent, 'mute'],
  ]);
  const [item] = items(1, 1) as [ItemId];
  at.queue.add(item, 0);
  await nextTurn();
  at.set(other, 'has');
  for (let i = 0; i < 3; i++) at.queue.retryNow(item, other);
  at.set(silent, 'nothing');
  at.speak();
  await at.queue.idle();
  t.strictSame([at.askedOf(silent), at.askedOf(other), at.queue.sizes().pending], [1, 2, 0]);
  await at.queue.stop();
});

t.test('who announces an item during each attempt is asked once more', async (t) => {
  const at = opened([[other, 'mute']]);
  const [item] = items(1, 1) as [ItemId];
  at.queue.add(item, 0);
  for (let i = 0; i < 5; i++) {
    await nextTurn();
    if (at.queue.sizes().transfers > 0) at.queue.retryNow(item, other);
    at.speak();
  }
  await at.queue.idle();
  t.equal(at.askedOf(other), 2);
  await at.queue.stop();
});

t.test('a silent member delays no new item by connecting', async (t) => {
  const at = opened([
    [other, 'has'],
    [silent, 'mute'],
  ]);
  at.free.set(latin1(silent), 5);
  const [item] = items(1, 1) as [ItemId];
  at.queue.add(item, 3_000);
  at.queue.retryAllNow(silent, () => true);
  await at.clock.advance(3_000);
  t.strictSame([at.askedOf(silent), at.askedOf(other)], [0, 1]);
  await at.queue.stop();
});

t.test('held items give way before those that are tried soon', async (t) => {
  const at = opened([[silent, 'full']]);
  const held = items(1, 4_990);
  for (const item of held) at.queue.add(item, 0);
  await at.queue.idle();
  at.set(silent, 'nothing');
  const missing = items(1, 10);
  for (const item of missing) at.queue.add(item, 0);
  await at.queue.idle();
  at.queue.add(items(1, 1)[0]!, 60_000);
  const sizes = at.queue.sizes();
  t.strictSame([sizes.new < held.length, sizes.pending], [true, missing.length]);
  await at.queue.stop();
});

t.test('a client that asks while one member is asked has all asked', async (t) => {
  const at = opened([
    [silent, 'nothing'],
    [other, 'nothing'],
  ]);
  const [item] = items(1, 1) as [ItemId];
  at.queue.add(item, 0);
  await at.queue.idle();
  at.set(silent, 'mute');
  at.queue.retryNow(item, silent);
  await nextTurn();
  at.set(other, 'has');
  at.queue.want(item);
  at.set(silent, 'nothing');
  at.speak();
  await at.queue.idle();
  t.equal(at.queue.sizes().pending, 0, 'it has come');
  await at.queue.stop();
});

t.test('a member that was silent delays no new item by announcing it', async (t) => {
  const at = opened([
    [other, 'has'],
    [silent, 'mute'],
  ]);
  at.busy.add(latin1(silent));
  const [item] = items(1, 1) as [ItemId];
  at.queue.add(item, 3_000);
  at.queue.retryNow(item, silent);
  await at.clock.advance(3_000);
  t.strictSame([at.askedOf(silent), at.askedOf(other)], [0, 1]);
  await at.queue.stop();
});

t.test('no announcements put off the time when all are asked', async (t) => {
  for (const manner of ['full', 'nothing'] as const) {
    const at = opened([
      [silent, 'nothing'],
      [other, 'nothing'],
      [third, 'nothing'],
    ]);
    const [item] = items(1, 1) as [ItemId];
    at.queue.add(item, 0);
    await at.queue.idle();
    at.set(silent, 'full');
    at.set(other, manner);
    for (let second = 0; second < 300; second++) {
      if (second === 100) at.asked.length = 0;
      for (const member of [silent, other]) at.queue.retryNow(item, member);
      await at.clock.advance(1_000);
    }
    t.ok(at.askedOf(third) > 0, manner);
    await at.queue.stop();
  }
});

t.test('new items go on before held ones that all were asked for', async (t) => {
  const at = opened([[silent, 'full']]);
  const old = items(1, 20);
  for (const item of old) at.queue.add(item, 0);
  await at.clock.advance(2 * MINUTE_MS);
  t.strictSame([at.queue.sizes().new, at.queue.sizes().pending], [0, old.length]);
  const [item, early] = items(2, 2) as [ItemId, ItemId];
  await at.since(() => at.queue.add(item, 0));
  t.strictSame(await at.since(() => at.queue.retryHeld(silent, 1)), [itemKey(item)]);
  at.queue.add(early, 3_000);
  at.queue.retryNow(early, silent);
  await at.clock.advance(3_000);
  t.equal(at.queue.sizes().new, 2, 'one that was announced early is still new');
  await at.queue.stop();
});

t.test('lost jobs are counted', (t) => {
  const held = new HeldJobs<Holdable>();
  const [a, b] = (['lost', 'new'] as const).map((kind) => ({
    kind,
    announcedBy: new Set<string>(),
  }));
  const onHold = { heldBy: new Set(['x']), isEarly: false };
  for (const job of [a!, b!]) held.add(job, onHold);
  t.strictSame([held.size, held.lostCount, held.lostOnes()], [2, 1, [a]]);
  for (const job of [a!, a!, b!]) held.remove(job);
  t.strictSame([held.size, held.lostCount], [0, 0]);
  t.end();
});
