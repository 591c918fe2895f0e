import t from 'tap';
import {
  ATTEMPTS_MAX,
  createRepetitions,
  HELD_UP_MS_MAX,
} from '../../../src/contracts/execution/repetitions.ts';

t.test('attempts are few, and further apart each time', async (t) => {
  let now = 0;
  const repetitions = createRepetitions({ monotonic: () => now });
  t.equal(repetitions.isDue('call'), true);
  t.equal(repetitions.has('call'), false);
  const pauses: number[] = [];
  while (repetitions.failed('call')) {
    const from = now;
    while (!repetitions.isDue('call')) now += 500;
    pauses.push((now - from) / 1000);
    t.equal(repetitions.has('call'), true);
  }
  t.same(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  t.equal(pauses.length, ATTEMPTS_MAX - 1);
  t.equal(repetitions.isDue('other'), true);
});

t.test('what the system around holds up waits longer each time, for an hour', async (t) => {
  let now = 0;
  const repetitions = createRepetitions({ monotonic: () => now });
  let times = 0;
  while (repetitions.heldUp('call')) {
    t.equal(repetitions.isDue('call'), false);
    now += Math.min(1000 * 2 ** times++, 60_000);
    t.equal(repetitions.isDue('call'), true);
  }
  t.ok(times > 3 * ATTEMPTS_MAX, `after ${times} times`);
  t.ok(now >= HELD_UP_MS_MAX && now < HELD_UP_MS_MAX + 60_000);
  t.equal(repetitions.heldUp('call'), true, 'it may come again');
  t.equal(repetitions.failed('call'), true, 'its own failures count from here');
});
