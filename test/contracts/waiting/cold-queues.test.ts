import t from 'tap';
import { ASKED_MAX, ColdQueues } from '../../../src/contracts/waiting/cold-queues.ts';

t.test('one line of an image asks, less and less often, and all go on together', async (t) => {
  let now = 0;
  const cold = new ColdQueues<string>({ monotonic: () => now });
  for (const queue of ['one', 'two', 'three']) cold.add('image', queue);
  t.same(cold.due(), []);
  const asked: number[] = [];
  for (; now < 3_000; now += 5) {
    for (const queue of cold.due()) {
      asked.push(now);
      cold.add('image', queue);
    }
  }
  t.same(asked, [25, 75, 175, 375, 775, 1175, 1575, 1975, 2375, 2775]);
  t.same(cold.isWarm('other'), []);
  t.same(new Set(cold.isWarm('image')), new Set(['one', 'two', 'three']));
  t.same(cold.isWarm('image'), []);
});

t.test('of many images a few ask at a time, in turn', async (t) => {
  let now = 0;
  const cold = new ColdQueues<string>({ monotonic: () => now });
  for (let i = 0; i < 3 * ASKED_MAX; i++) cold.add(`image ${i}`, `line ${i}`);
  const asked: string[] = [];
  for (let i = 0; i < 3; i++) {
    now += 25;
    const queues = cold.due();
    t.equal(queues.length, ASKED_MAX);
    asked.push(...queues);
  }
  t.equal(new Set(asked).size, 3 * ASKED_MAX);
});
