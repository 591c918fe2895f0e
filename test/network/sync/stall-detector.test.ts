// A peer that is followed without progress: what counts against it, what for it, and for how long.
import t from 'tap';
import {
  createStallDetector,
  IDLE_MS_MAX,
  idleMsOf,
} from '../../../src/network/sync/stall-detector.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const OWNER = new Uint8Array(26).fill(1);
const OTHER = new Uint8Array(26).fill(2);

function detector() {
  const clock = fakeClock(0);
  const stalls = createStallDetector(clock);
  const stalled: number[] = [];
  const watch = (owner = OWNER) =>
    stalls.watch(owner, IDLE_MS_MAX, () => stalled.push(clock.monotonic()));
  return { clock, stalls, stalled, watch };
}

t.test('90 seconds of following without an adopted block', async (t) => {
  const { clock, stalled, watch } = detector();
  watch();
  await clock.advance(IDLE_MS_MAX - 1);
  t.strictSame(stalled, []);
  await clock.advance(1);
  t.strictSame(stalled, [IDLE_MS_MAX]);
});

t.test('a peer that takes its score back is left at the third time', async (t) => {
  const { clock, stalled, watch } = detector();
  for (let times = 1; times <= 3; times++) {
    const followed = watch();
    await clock.advance(500);
    followed.rolledBack();
    followed.end();
    t.equal(stalled.length, times < 3 ? 0 : 1, `${times} times`);
  }
});

t.test('blocks that cannot be used count, adopted ones make up for it', async (t) => {
  const { clock, stalled, watch } = detector();
  const followed = watch();
  for (let i = 0; i < 8; i++) followed.unusable();
  followed.adopted(2);
  await clock.advance(39_000);
  t.strictSame(stalled, []);
  followed.unusable();
  t.strictSame(stalled, [39_000]);
});

t.test('the time is remembered over sessions, for each owner', async (t) => {
  const { clock, stalled, watch } = detector();
  const first = watch();
  await clock.advance(60_000);
  first.end();
  await clock.advance(600_000);
  const other = watch(OTHER);
  await clock.advance(31_000);
  t.strictSame(stalled, []);
  other.end();
  watch();
  await clock.advance(30_000);
  t.equal(stalled.length, 1);
});

t.test('blocks adopted lately', async (t) => {
  const { clock, stalls, watch } = detector();
  const first = watch();
  first.adopted(7);
  await clock.advance(80_000);
  t.equal(stalls.recentlyAdopted(), 7);
  first.end();
  await clock.advance(600_000);
  t.equal(stalls.recentlyAdopted(), 7, 'only time spent on following counts');
  watch(OTHER);
  await clock.advance(40_000);
  t.equal(stalls.recentlyAdopted(), 0);
});

t.test(
  'a branch that parts deep may take longer, since nothing of it is adopted before',
  async (t) => {
    t.strictSame(
      [0, 1, 100, 101, 500].map(idleMsOf),
      [1, 1, 1, 2, 5].map((n) => n * IDLE_MS_MAX),
    );
  },
);
