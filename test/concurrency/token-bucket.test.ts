/** A bucket fills at its rate, and never above its capacity. */
import t from 'tap';
import { TokenBucket } from '../../src/concurrency/token-bucket.ts';
import { fakeClock } from '../node/fake-clock.ts';

t.test('a burst, then the rate', async (t) => {
  const clock = fakeClock(0);
  const bucket = new TokenBucket(4, 2, clock);
  const taken = () => Array.from({ length: 6 }, () => bucket.tryTake()).filter(Boolean).length;
  t.equal(taken(), 4);
  await clock.advance(499);
  t.equal(taken(), 0, 'a part of a token is none, and stays');
  await clock.advance(1);
  t.equal(taken(), 1);
  await clock.advance(60_000);
  t.equal(taken(), 4, 'no more than the capacity');
});

t.test('what is taken in advance is waited for', async (t) => {
  const clock = fakeClock(0);
  const bucket = new TokenBucket(2, 0.5, clock);
  t.strictSame([bucket.take(1.5), bucket.take(0.5), bucket.take(1)], [0, 0, 2000]);
  t.equal(bucket.take(0), 2000);
  t.notOk(bucket.tryTake());
  await clock.advance(1500);
  t.equal(bucket.take(0.1), 700);
  await clock.advance(700);
  t.equal(bucket.take(0), 0);
  const tenths = new TokenBucket(1, 1, clock);
  for (let i = 0; i < 10; i++) t.equal(tenths.take(0.1), 0, 'ten tenths are one');
});
