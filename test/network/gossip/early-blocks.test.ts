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

const announced = { peers: ['one'], bytes: 1000 };

t.test('a block waits until it may be judged, and not where that is far away', async (t) => {
  const clock = timers();
  const early = createEarlyBlocks(clock);
  let judged = 0;
  const again = () => {
    judged++;
  };
  t.notOk(early.holds(99, announced, again), 'the clocks differ by less than a tenth of a second');
  t.ok(early.holds(100, announced, again));
  t.ok(early.holds(5000, announced, again));
  t.ok(early.holds(5001, announced, again));
  t.same([...clock.waiting.values()], [1, 4901]);
  clock.fire();
  t.equal(judged, 2);
});

t.test('few blocks wait, and none after the end', async (t) => {
  const clock = timers();
  const early = createEarlyBlocks(clock);
  for (let i = 0; i < 40; i++) t.ok(early.holds(1000, announced, () => t.fail('it has ended')));
  t.equal(clock.waiting.size, 32);
  early.stop();
  t.equal(clock.waiting.size, 0);
});

t.test('one peer takes no place of another', async (t) => {
  const clock = timers();
  const early = createEarlyBlocks<string>(clock);
  const judged: string[] = [];
  const hold = (peer: string, bytes: number): void => {
    t.ok(early.holds(1000, { peers: [peer], bytes }, () => judged.push(peer)));
  };
  for (let i = 0; i < 100; i++) hold('flood', 1000);
  hold('honest', 1000);
  hold('large', 8 * 1024 * 1024);
  for (let i = 0; i < 10; i++) hold('large', 1024 * 1024);
  for (let i = 0; i < 10; i++) hold('medium', 1024 * 1024);
  clock.fire();
  const count = (peer: string): number => judged.filter((one) => one === peer).length;
  t.equal(count('flood'), 32);
  t.equal(count('honest'), 1);
  t.equal(count('large'), 1, 'the first one, whatever its size');
  t.equal(count('medium'), 4);
  hold('flood', 1000);
  t.equal(clock.waiting.size, 1, 'there is room again');
});

t.test('a peer whose places are taken keeps no block from another that announced it', async (t) => {
  const clock = timers();
  const early = createEarlyBlocks<string>(clock);
  for (let i = 0; i < 32; i++) early.holds(1000, { peers: ['flood'], bytes: 1000 }, () => {});
  let judged = 0;
  const again = () => {
    judged++;
  };
  t.ok(early.holds(1000, { peers: ['flood'], bytes: 1000 }, again));
  t.ok(early.holds(1000, { peers: ['flood', 'honest'], bytes: 1000 }, again));
  clock.fire();
  t.equal(judged, 1, 'the one that has another place');
});
