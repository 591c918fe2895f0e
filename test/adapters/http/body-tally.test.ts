// Bytes of bodies that several servers count together.
import t from 'tap';
import { ownTally, sharedCounters, sharedTally } from '../../../src/adapters/http/body-tally.ts';

t.test('both sums are limited, and a refusal counts nothing', async (t) => {
  const memory = sharedCounters();
  const [one, other] = [sharedTally(memory), sharedTally(memory)];
  t.ok(one.take(60, 60, 100, 80));
  t.notOk(other.take(41, 0, 100, Number.POSITIVE_INFINITY), 'all together');
  t.notOk(other.take(30, 30, 100, 80), 'the large ones');
  t.ok(other.take(40, 0, 100, Number.POSITIVE_INFINITY));
  one.giveBack(60, 60);
  t.ok(other.take(60, 60, 100, 80));
  t.ok(ownTally().take(100, 80, 100, 80), 'another server counts alone');
});
