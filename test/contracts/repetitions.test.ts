import t from 'tap';
import { ATTEMPTS_MAX, createRepetitions } from '../../src/contracts/repetitions.ts';

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

t.test('what the system around holds up waits longer each time, and is not given up', async (t) => {
  let now = 0;
  const repetitions = createRepetitions({ monotonic: () => now });
  for (let i = 0; i < 3 * ATTEMPTS_MAX; i++) {
    repetitions.heldUp('call');
    t.equal(repetitions.isDue('call'), false);
    now += i < 6 ? 1000 * 2 ** i : 60_000;
    t.equal(repetitions.isDue('call'), true);
  }
  t.equal(repetitions.failed('call'), true, 'its own failures count from here');
});
