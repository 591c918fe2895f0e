// A look through the waiting calls that fails ends itself alone.
import t from 'tap';
import { assert } from '../../../src/base/assert.ts';
import {
  type ErrorQuorumPorts,
  watchErrors,
} from '../../../src/contracts/statuses/error-quorum.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const EVERY_MS = 1000;

function watching(executes: () => boolean) {
  const clock = fakeClock(0);
  const options = { quorum: 1, everyMs: EVERY_MS, poolBytesMax: 1 };
  const stop = watchErrors(options, { clock, executes } as unknown as ErrorQuorumPorts);
  return { clock, stop };
}

t.test('the next look comes a while after a failed one', async (t) => {
  let looks = 0;
  const { clock, stop } = watching(() => {
    if (++looks === 1) throw new Error('a record that cannot be read');
    return true;
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
  const { clock, stop } = watching(() => {
    assert(false, 'it must stop the node');
    return true;
  });
  t.teardown(stop);
  await clock.advance(EVERY_MS);
  t.match(await failed, { message: 'it must stop the node' });
});
