// A sweep that fails ends itself alone.
import t from 'tap';
import { assert } from '../../../src/base/assert.ts';
import { sweepEvery } from '../../../src/contracts/statuses/sweep-every.ts';
import { fakeClock } from '../../node/fake-clock.ts';

t.test('the next sweep comes a while after a failed one', async (t) => {
  const clock = fakeClock(0);
  let sweeps = 0;
  const stop = sweepEvery(100, clock, async () => {
    if (++sweeps === 1) throw new Error('a record that cannot be read');
  });
  await clock.advance(99);
  t.equal(sweeps, 0);
  await clock.advance(1);
  t.equal(sweeps, 1);
  await clock.advance(100);
  t.equal(sweeps, 2);
  stop();
  await clock.advance(1_000);
  t.equal(sweeps, 2);
  t.equal(clock.timers(), 0);
});

t.test('a sweep that is under way hears of the stop, and none follows', async (t) => {
  const clock = fakeClock(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  let over = false;
  const stop = sweepEvery(100, clock, async (isOver) => {
    await promise;
    over = isOver();
  });
  await clock.advance(100);
  stop();
  resolve();
  await clock.advance(1_000);
  t.ok(over);
  t.equal(clock.timers(), 0);
});

t.test('a broken invariant is no record that cannot be read', async (t) => {
  const clock = fakeClock(0);
  const failed = new Promise((resolve) => process.once('unhandledRejection', resolve));
  t.teardown(
    sweepEvery(100, clock, async () => {
      assert(false, 'it must stop the node');
    }),
  );
  await clock.advance(100);
  t.match(await failed, { message: 'it must stop the node' });
});
