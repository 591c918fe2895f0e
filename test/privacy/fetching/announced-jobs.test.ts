/** Held items that the member for which they wait says it has. */
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { type ItemId, itemKey } from '../../../src/privacy/protocol/item-id.ts';
import { items, MINUTE_MS, opened, other, silent, third } from './asked-members.ts';

t.test('items that their busy member announces and new ones go on by turns', async (t) => {
  const { queue, since } = opened([
    [silent, 'full'],
    [other, 'full'],
  ]);
  const list = items(1, 6);
  const keys = list.map(itemKey);
  await since(() => list.forEach((item) => void queue.add(item, 0)));
  queue.retryNow(list[4]!, silent);
  queue.retryNow(list[2]!, silent);
  queue.retryNow(list[3]!, other);
  t.strictSame(await since(() => queue.retryHeld(silent, 3)), [keys[2], keys[0], keys[4]]);
  await queue.stop();
});

t.test('thousands that a member announces do not hold up a new item', async (t) => {
  const { queue, clock, since, set } = opened([[silent, 'full']]);
  const many = items(1, 3_000);
  await since(() => many.forEach((item) => void queue.add(item, 0)));
  // They are no longer new.
  await clock.advance(2 * MINUTE_MS);
  for (const item of many) queue.retryNow(item, silent);
  const [item] = items(2, 1) as [ItemId];
  await since(() => queue.add(item, 0));
  set(silent, 'has');
  const tried = [];
  for (let i = 0; i < 4; i++) tried.push(...(await since(() => queue.retryHeld(silent, 1))));
  t.equal(tried.indexOf(itemKey(item)), 1);
  t.equal(new Set(tried).size, 4, 'and it does not hold up those');
  await queue.stop();
});

t.test('nobody else makes an announcement void', async (t) => {
  const { queue, clock, since, set } = opened([
    [silent, 'full'],
    [other, 'nothing'],
  ]);
  const many = items(1, 100);
  await since(() => many.forEach((item) => void queue.add(item, 0)));
  await clock.advance(2 * MINUTE_MS);
  const [item] = many.slice(50) as [ItemId];
  queue.retryNow(item, silent);
  const tried = await since(() => queue.retryNow(item, other));
  t.strictSame(tried, [itemKey(item)], 'the other one, which lacks it, is asked meanwhile');
  t.strictSame(await since(() => queue.retryHeld(silent, 1)), [itemKey(item)]);
  set(silent, 'nothing');
  await since(() => queue.retryHeld(silent, 1));
  set(silent, 'full');
  queue.retryAllNow(silent, () => true);
  const next = await since(() => queue.retryHeld(silent, 1));
  t.not(next[0], itemKey(item), 'the member itself has said that it lacks it');
  await queue.stop();
});

t.test('an announcement before the first try counts', async (t) => {
  const { queue, clock, since, busy } = opened([[silent, 'full']]);
  const list = items(1, 10);
  busy.add(latin1(silent));
  for (const item of list) queue.add(item, 1_000);
  queue.retryNow(list[7]!, silent);
  await clock.advance(2 * MINUTE_MS);
  t.strictSame(await since(() => queue.retryHeld(silent, 1)), [itemKey(list[7]!)]);
  await queue.stop();
});

t.test('an announcement counts although a third member connects meanwhile', async (t) => {
  const { queue, since } = opened([[silent, 'full']]);
  const list = items(1, 4);
  await since(() => list.forEach((item) => void queue.add(item, 0)));
  queue.retryNow(list[3]!, silent);
  queue.retryAllNow(third, () => true);
  t.strictSame(await since(() => queue.retryHeld(silent, 1)), [itemKey(list[3]!)]);
  queue.retryNow(list[2]!, silent);
  queue.drop(list[2]!);
  t.equal((await since(() => queue.retryHeld(silent, 9))).length, 3);
  await queue.stop();
});
