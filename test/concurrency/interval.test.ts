import t from 'tap';
import { every } from '../../src/concurrency/interval.ts';
import { fakeClock } from '../node/fake-clock.ts';

t.test('a job runs after each interval until it is stopped', async (t) => {
  const clock = fakeClock(0);
  let runs = 0;
  const stop = every(clock, 100, () => {
    runs++;
  });
  await clock.advance(99);
  t.equal(runs, 0);
  await clock.advance(1);
  t.equal(runs, 1);
  await clock.advance(200);
  t.equal(runs, 3);
  stop();
  await clock.advance(1_000);
  t.equal(runs, 3);
  t.equal(clock.timers(), 0);
});

t.test('a job may stop itself', async (t) => {
  const clock = fakeClock(0);
  let runs = 0;
  const stop = every(clock, 100, () => {
    if (++runs === 2) stop();
  });
  await clock.advance(1_000);
  t.equal(runs, 2);
  t.equal(clock.timers(), 0);
});

t.test('the next interval begins at the end of a long job', async (t) => {
  const clock = fakeClock(0);
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const stop = every(clock, 100, () => ends[runs++]?.promise);
  await clock.advance(1_000);
  t.equal(runs, 1);
  t.equal(clock.timers(), 0);
  ends[0]!.resolve();
  await clock.advance(99);
  t.equal(runs, 1);
  await clock.advance(1);
  t.equal(runs, 2);
  stop();
});

t.test('a job that is under way hears of the stop, and none follows', async (t) => {
  const clock = fakeClock(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const stop = every(clock, 100, async (isStopped) => {
    await promise;
    isOver = isStopped();
  });
  await clock.advance(100);
  stop();
  resolve();
  await clock.advance(1_000);
  t.ok(isOver);
  t.equal(clock.timers(), 0);
});
