/** Memories of recent entries: bounded, and no slower when full. */
import t from 'tap';
import { BoundedCache, ExpiringSet } from '../../src/concurrency/bounded-cache.ts';

t.test('recent entries survive, old ones go', async (t) => {
  const recent = new BoundedCache<number, string>(10);
  recent.set(-1, 'used');
  for (let i = 0; i < 1000; i++) {
    recent.set(i, String(i));
    t.equal(recent.get(-1), 'used');
  }
  const held = Array.from({ length: 1000 }, (_, i) => i).filter((i) => recent.get(i) !== undefined);
  t.ok(held.length <= 20, `${held.length} held`);
  t.equal(recent.get(999), '999');
  t.equal(recent.get(0), undefined);
});

t.test('a deleted entry is gone from both generations', async (t) => {
  const recent = new BoundedCache<string, number>(2);
  recent.set('a', 1);
  recent.set('b', 2);
  recent.set('c', 3);
  t.equal(recent.get('a'), 1, 'old, and young again from here on');
  recent.delete('a');
  t.equal(recent.get('a'), undefined);
  recent.set('a', 4);
  t.equal(recent.get('a'), 4);
});

t.test(
  'a name is forgotten after its time, after many others, or when it is removed',
  async (t) => {
    let now = 0;
    const names = new ExpiringSet(100, 1000, { monotonic: () => now });
    names.add('one');
    now = 1000;
    t.ok(names.has('one'));
    now = 1001;
    t.notOk(names.has('one'));
    names.add('one');
    now = 1500;
    names.add('one');
    now = 2400;
    t.ok(names.has('one'), 'added again, it has its whole time');
    names.delete('one');
    t.notOk(names.has('one'));
    names.add('first');
    for (let i = 0; i < 99; i++) names.add(`other ${i}`);
    t.ok(names.has('first'), 'the last hundred are known');
    for (let i = 0; i < 200; i++) names.add(`another ${i}`);
    t.notOk(names.has('other 0'));
  },
);
