// The order in which the writes of a commit reach the store.
import t from 'tap';
import { endlessSlice } from '../../../src/concurrency/time-slice.ts';
import { Batch } from '../../../src/ledger/commit/batch.ts';
import { tickingSlice } from './ticking-slice.ts';

/** The same numbers every time. */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const keys: Record<string, (next: () => number) => number[]> = {
  'random keys': (next) => Array.from({ length: 16 }, () => Math.floor(next() * 256)),
  'keys of the same beginning': (next) => [
    1,
    84,
    0,
    0,
    ...[next(), next()].map((x) => Math.floor(x * 256)),
  ],
  'keys of all lengths, zeros among them': (next) =>
    Array.from({ length: Math.floor(next() * 8) }, () => Math.floor(next() * 3)),
  'the highest keys': (next) => [255, 255, 255, 255, Math.floor(next() * 256)],
};

for (const [name, make] of Object.entries(keys)) {
  for (const count of [1, 2, 3000, 40_000]) {
    t.test(`${name}, ${count}`, async (t) => {
      const next = numbers();
      const batch = new Batch();
      const last = new Map<string, number>();
      for (let i = 0; i < count; i++) {
        const key = Uint8Array.from(make(next));
        batch.put(3, key, Uint8Array.of(i & 255, (i >> 8) & 255, i >> 16));
        last.set(Buffer.from(key).toString('hex'), i);
      }
      const writes = await batch.writes(endlessSlice);
      const found = writes.map(({ key }) => Buffer.from(key).toString('hex'));
      t.strictSame(found, [...last.keys()].sort(), 'in the order of bytes, each once');
      const values = writes.map(({ value }) => value![0]! + value![1]! * 256 + value![2]! * 65536);
      t.strictSame(
        values,
        found.map((key) => last.get(key)),
        'the last write to a key counts',
      );
    });
  }
}

t.test('tables in the order of their numbers', async (t) => {
  const batch = new Batch();
  for (const table of [9, 2, 5]) batch.put(table, Uint8Array.of(0), undefined);
  t.strictSame(
    (await batch.writes(endlessSlice)).map(({ table }) => table),
    [2, 5, 9],
  );
});

t.test('the rows of a block are gone through in slices', async (t) => {
  const batch = new Batch();
  const count = 1000;
  for (let i = 0; i < count; i++) batch.put(3, Uint8Array.of(i >> 8, i), undefined);
  const { slice, turns } = tickingSlice();
  t.equal((await batch.writes(slice)).length, count);
  t.ok(turns() > count / 10, `${turns()} turns`);
});
