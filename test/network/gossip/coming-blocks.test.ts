// Anybody can make up a header, so a peer that announces one and keeps the block back is not waited for
// again; a block that is here needs nobody's word.
import t from 'tap';
import type { Stage } from '../../../src/network/gossip/arrivals.ts';
import { ComingBlocks } from '../../../src/network/gossip/coming-blocks.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const peer = (name: string) => ({ owner: new TextEncoder().encode(name) });
const [first, second] = [peer('first'), peer('second')];

const arrival = (stage: Stage | undefined, ...sources: ReturnType<typeof peer>[]) => ({
  compact: { header: {}, txs: [] } as never,
  sources,
  ...(stage && { stage }),
});

const always = (): boolean => true;

t.test('the block that has come furthest counts', async (t) => {
  const coming = new ComingBlocks(fakeClock(0));
  const judged = arrival(undefined, first);
  const announced = arrival('announced', first);
  const complete = arrival('complete', first);
  t.equal(coming.stage([], always), undefined);
  t.equal(coming.stage([judged], always), undefined, 'its header may be no good');
  t.equal(coming.stage([judged, announced], always), 'announced');
  t.equal(coming.stage([announced, complete, announced], always), 'complete');
});

t.test('a block that would not take the place of the head any more', async (t) => {
  const coming = new ComingBlocks(fakeClock(0));
  const blocks = [arrival('announced', first), arrival('complete', first)];
  t.equal(
    coming.stage(blocks, () => false),
    undefined,
  );
});

t.test('who has kept a block back is not waited for again for a while', async (t) => {
  const clock = fakeClock(0);
  const coming = new ComingBlocks(clock);
  coming.keptBack([first]);
  t.equal(coming.stage([arrival('announced', first)], always), undefined);
  const ofBoth = arrival('announced', first, second);
  t.equal(coming.stage([ofBoth], always), 'announced', 'another one has announced it as well');
  const complete = arrival('complete', first);
  t.equal(coming.stage([complete], always), 'complete', 'it has handed this one over');
  await clock.advance(6 * 60_000);
  t.equal(coming.stage([arrival('announced', first)], always), 'announced');
});

t.test('each wait for nothing doubles the time without another, up to a day', async (t) => {
  const clock = fakeClock(0);
  const coming = new ComingBlocks(clock);
  const isWaited = () => coming.stage([arrival('announced', first)], always) !== undefined;
  const minutes: number[] = [];
  const DAY = 24 * 60;
  for (let i = 0; i < 11; i++) {
    coming.keptBack([first]);
    coming.keptBack([first]);
    let passed = 0;
    for (; !isWaited(); passed += 5) await clock.advance(5 * 60_000);
    minutes.push(passed);
  }
  t.strictSame(minutes, [5, 10, 20, 40, 80, 160, 320, 640, 1280, DAY, DAY]);
  coming.keptBack([second]);
  await clock.advance(5 * 60_000);
  t.equal(coming.stage([arrival('announced', second)], always), 'announced', 'for each peer');
  await clock.advance(DAY * 60_000);
  coming.keptBack([first]);
  await clock.advance(5 * 60_000);
  t.ok(isWaited(), 'after a day without one it is forgotten');
});
