import t from 'tap';
import { createSlots } from '../../src/base/slots.ts';
import { fakeClock } from '../node/fake-clock.ts';

t.test('a place within a time, or none', async (t) => {
  const clock = fakeClock(0);
  const slots = createSlots(1);
  const release = await slots.takeWithin(clock, 1000);
  t.ok(release);
  const [early, late] = [slots.takeWithin(clock, 1000), slots.takeWithin(clock, 3000)];
  await clock.advance(1000);
  t.equal(await early, undefined);
  t.equal(slots.waiting, 1, 'who has gone takes no place');
  release?.();
  release?.();
  const next = await late;
  t.ok(next);
  await clock.advance(3000);
  const last = slots.take();
  t.equal(slots.waiting, 1, 'once it has its place the time is over');
  next?.();
  t.ok(await last);
});
