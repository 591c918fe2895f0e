/** Long work in slices, and the work that runs in between. */
import t from 'tap';
import { endlessSlice, TimeSlice } from '../../src/concurrency/time-slice.ts';

/** A clock by which each turn of the event loop takes so long. */
function clockWithTurns(turnMs: number) {
  let now = 0;
  let turns = 0;
  return {
    monotonic: () => now,
    async turn() {
      now += turnMs;
      turns++;
    },
    work: (ms: number) => {
      now += ms;
    },
    taken: () => turns,
  };
}

t.test('a slice ends after two milliseconds of work', async (t) => {
  const clock = clockWithTurns(0.1);
  const slice = new TimeSlice(clock);
  clock.work(1);
  t.notOk(slice.isOver());
  clock.work(1);
  t.ok(slice.isOver());
  await slice.yield();
  t.notOk(slice.isOver(), 'the next slice has its own time');
});

t.test('a request between two slices is served in the time that short turns leave', async (t) => {
  const clock = clockWithTurns(0.1);
  await new TimeSlice(clock).yield();
  t.equal(clock.taken(), 3, 'arrival, signature, disk');
});

t.test('turns that are long already take no more than one each', async (t) => {
  const clock = clockWithTurns(10);
  const slice = new TimeSlice(clock);
  for (let slices = 1; slices <= 5; slices++) {
    await slice.yield();
    t.equal(clock.taken(), slices, 'otherwise a busy node makes no block in its round');
  }
});

t.test('an endless slice is never over, and yields without a clock', async (t) => {
  t.notOk(endlessSlice.isOver());
  await endlessSlice.yield();
  t.notOk(endlessSlice.isOver());
});
