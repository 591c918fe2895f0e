import t from 'tap';
import { withTimeout } from '../../src/base/deadline.ts';
import { fakeClock } from '../node/fake-clock.ts';

/** Work that ends with its signal. */
const endless = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

t.test('the outcome of what ends in time, and no timer stays', async (t) => {
  const clock = fakeClock(0);
  t.equal(await withTimeout(clock, 100, undefined, async () => 7), 7);
  await t.rejects(
    withTimeout(clock, 100, undefined, async () => {
      throw new Error('its own');
    }),
    { message: 'its own' },
  );
  t.equal(clock.timers(), 0);
});

t.test('the reason of what is late', async (t) => {
  const clock = fakeClock(0);
  const named = t.rejects(
    withTimeout(clock, 100, undefined, endless, () => new Error('too late')),
    { message: 'too late' },
  );
  const unnamed = t.rejects(withTimeout(clock, 100, undefined, endless), { name: 'AbortError' });
  await clock.advance(100);
  await Promise.all([named, unnamed]);
});

t.test('the reason of the signal that was given', async (t) => {
  const clock = fakeClock(0);
  const given = new AbortController();
  const left = t.rejects(withTimeout(clock, 100, given.signal, endless), { message: 'it left' });
  given.abort(new Error('it left'));
  await left;
  t.equal(clock.timers(), 0);
});
