// A look through the refusals that fails ends itself alone.
import t from 'tap';
import { assert } from '../../../src/base/assert.ts';
import { repeatRefusals } from '../../../src/contracts/statuses/repeated-refusals.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const EVERY_MS = 30_000;

function repeating(refusedTransactions: () => readonly string[]) {
  const clock = fakeClock(0);
  const stop = repeatRefusals({
    index: { refusedTransactions, of: () => [] },
    clock,
    ownKey: 'own',
    isOpen: () => true,
    repeat: () => {},
  });
  return { clock, stop };
}

t.test('the next look comes a while after a failed one', async (t) => {
  let looks = 0;
  const { clock, stop } = repeating(() => {
    if (++looks === 1) throw new Error('a record that cannot be read');
    return [];
  });
  await clock.advance(EVERY_MS);
  t.equal(looks, 1);
  await clock.advance(EVERY_MS);
  t.equal(looks, 2);
  stop();
  await clock.advance(10 * EVERY_MS);
  t.equal(looks, 2);
  t.equal(clock.timers(), 0);
});

t.test('a broken invariant is no record that cannot be read', async (t) => {
  const failed = new Promise((resolve) => process.once('unhandledRejection', resolve));
  const { clock, stop } = repeating(() => {
    assert(false, 'it must stop the node');
    return [];
  });
  t.teardown(stop);
  await clock.advance(EVERY_MS);
  t.match(await failed, { message: 'it must stop the node' });
});
