/** Long work in pieces, and the work that runs in between. */
import t from 'tap';
import { createTurns } from '../../src/base/turns.ts';

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

t.test('a piece ends after two milliseconds of work', async (t) => {
  const clock = clockWithTurns(0.1);
  const turns = createTurns(clock);
  clock.work(1);
  t.notOk(turns.due());
  clock.work(1);
  t.ok(turns.due());
  await turns.take();
  t.notOk(turns.due(), 'the next piece has its own time');
});

t.test('a request between two pieces is served in the time that short turns leave', async (t) => {
  const clock = clockWithTurns(0.1);
  await createTurns(clock).take();
  t.equal(clock.taken(), 3, 'arrival, signature, disk');
});

t.test('turns that are long already take no more than one each', async (t) => {
  const clock = clockWithTurns(10);
  const turns = createTurns(clock);
  for (let piece = 1; piece <= 5; piece++) {
    await turns.take();
    t.equal(clock.taken(), piece, 'otherwise a busy node makes no block in its round');
  }
});
