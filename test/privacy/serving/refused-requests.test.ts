import t from 'tap';
import { REFUSALS_MAX, RefusedRequests } from '../../../src/privacy/serving/refused-requests.ts';
import { fakeClock } from '../../node/fake-clock.ts';

t.test('so many refusals in a minute, for each owner', async (t) => {
  const clock = fakeClock(0);
  const refused = new RefusedRequests(clock);
  const [one, other] = [Uint8Array.of(1), Uint8Array.of(2)];
  for (let i = 0; i < REFUSALS_MAX; i++) {
    t.notOk(refused.isFull(one));
    t.ok(refused.add(one));
  }
  t.ok(refused.isFull(one));
  t.notOk(refused.isFull(other));
  t.notOk(refused.add(one));
  t.ok(refused.add(other));
  await clock.advance(60_000);
  t.notOk(refused.add(one), 'the minute is not over');
  await clock.advance(1);
  t.notOk(refused.isFull(one));
  t.ok(refused.add(one));
});
