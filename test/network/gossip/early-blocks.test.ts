import t from 'tap';
import { createEarlyBlocks } from '../../../src/network/gossip/early-blocks.ts';

/** Timers that the test ends by hand. */
function timers() {
  const waiting = new Map<() => void, number>();
  return {
    waiting,
    after(ms: number, action: () => void) {
      waiting.set(action, ms);
      return () => void waiting.delete(action);
    },
    fire() {
      for (const action of [...waiting.keys()]) {
        waiting.delete(action);
        action();
      }
    },
  };
}

t.test('a block waits until it may be judged, and not where that is far away', async (t) => {
  const clock = timers();
  const early = createEarlyBlocks(clock);
  let judged = 0;
  const again = () => {
    judged++;
  };
  t.notOk(early.holds(99, again), 'the clocks differ by less than a tenth of a second');
  t.ok(early.holds(100, again));
  t.ok(early.holds(5000, again));
  t.ok(early.holds(5001, again));
  t.same([...clock.waiting.values()], [1, 4901]);
  clock.fire();
  t.equal(judged, 2);
});

t.test('few blocks wait, and none after the end', async (t) => {
  const clock = timers();
  const early = createEarlyBlocks(clock);
  for (let i = 0; i < 40; i++) t.ok(early.holds(1000, () => t.fail('it has ended')));
  t.equal(clock.waiting.size, 32);
  early.stop();
  t.equal(clock.waiting.size, 0);
});
