import t from 'tap';
import { FairSemaphore } from '../../src/concurrency/fair-semaphore.ts';

function served(slots: FairSemaphore<string>, most = 100): string[] {
  const items: string[] = [];
  for (let item = slots.next(); item !== undefined && items.length < most; item = slots.next()) {
    items.push(item);
    slots.take(item[0]!);
  }
  return items;
}

t.test('one owner has all places, and several share them', async (t) => {
  const alone = new FairSemaphore<string>(8);
  for (let i = 0; i < 20; i++) alone.add('a', `a${i}`, false);
  t.equal(served(alone).length, 8);
  t.equal(alone.taken, 8);
  const slots = new FairSemaphore<string>(8);
  for (let i = 0; i < 20; i++) slots.add('a', `a${i}`, false);
  for (const item of ['b0', 'b1', 'c0']) slots.add(item[0]!, item, false);
  t.same(served(slots), ['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  slots.add('d', 'd0', false);
  t.same(served(slots), ['d0'], 'a place is left for who has none');
  slots.release('b');
  slots.release('b');
  t.same(served(slots), ['a3'], 'and the last quarter for nobody else');
});

t.test('what yields comes after others, and not never', async (t) => {
  const slots = new FairSemaphore<string>(1);
  slots.add('a', 'a0', true);
  slots.add('a', 'a1', false);
  slots.add('b', 'b0', false);
  slots.add('b', 'b1', false);
  const order: string[] = [];
  for (let item = slots.next(); item !== undefined; item = slots.next()) {
    order.push(item);
    slots.take(item[0]!);
    slots.release(item[0]!);
  }
  t.same(order, ['a1', 'b0', 'b1', 'a0']);
  const busy = new FairSemaphore<string>(8);
  busy.add('a', 'a0', false);
  served(busy);
  busy.add('a', 'a1', false);
  busy.add('a', 'a2', false);
  busy.add('b', 'b0', true);
  t.same(
    served(busy),
    ['a1', 'b0', 'a2'].sort((x, y) => (x === 'b0' ? -1 : y === 'b0' ? 1 : 0)),
  );
});
