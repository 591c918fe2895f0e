import t from 'tap';
import { sampleOf } from '../../../src/privacy/fetching/backlog-sample.ts';
import { Backlog } from '../../../src/privacy/fetching/fetch-backlog.ts';
import { type ItemId, itemKey } from '../../../src/privacy/protocol/item-id.ts';
import { quiet, testClock } from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const random = seededRandom('rows');
const SAMPLE = { itemsMax: 100, policyMax: 20 };

async function sampled(counts: Readonly<Record<number, number>>) {
  const backlog = new Backlog({ store: createMemoryStore(), clock: testClock(0), log: quiet });
  for (const [policy, count] of Object.entries(counts)) {
    const policyId = new Uint8Array(32).fill(Number(policy));
    for (let i = 0; i < count; i++) backlog.set({ policyId, hash: random.bytes(32) }, 'pending');
  }
  await backlog.flush();
  return () => {
    const { items, isPart } = sampleOf('pending', backlog, random, SAMPLE);
    const of = (policy: number): number => keysOf(items, policy).size;
    return { of, isPart, count: items.length, keys: keysOf(items) };
  };
}

const keysOf = (items: readonly ItemId[], policy?: number): Set<string> =>
  new Set(
    items
      .filter(({ policyId }) => policy === undefined || policyId[0] === policy)
      .map((item) => itemKey(item)),
  );

t.test('all rows, where there are few', async (t) => {
  t.strictSame((await sampled({}))().count, 0);
  const sample = await sampled({ 1: 5, 100: 15, 200: 10 });
  for (let i = 0; i < 20; i++) {
    const { keys, isPart } = sample();
    t.strictSame([keys.size, isPart], [30, false]);
  }
});

t.test('a part of a long policy, and the short ones whole', async (t) => {
  const sample = await sampled({ 40: 1_000, 120: 3, 240: 7 });
  const seen = new Set<string>();
  for (let i = 0; i < 1_000; i++) {
    const { of, isPart, count, keys } = sample();
    if (of(120) !== 3 || of(240) !== 7 || !isPart) t.fail('the short ones are not whole');
    if (of(40) !== 20) t.fail(`${of(40)} of the long one`);
    if (count > SAMPLE.itemsMax) t.fail('too many');
    for (const key of keys) seen.add(key);
  }
  t.equal(seen.size, 1_010, 'each has its turn');
});

t.test('no more than are asked for', async (t) => {
  const sample = await sampled(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i, 10])));
  for (let i = 0; i < 20; i++) {
    const { count, isPart } = sample();
    t.strictSame([count, isPart], [100, true]);
  }
});
