// Whom blocks are asked of, and in which order.
import t from 'tap';
import type { Session } from '../../../src/network/sessions/session.ts';
import { BlockSources } from '../../../src/network/sync/block-sources.ts';
import type { PeerTip } from '../../../src/network/sync/peer-tips.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const peer = (n: number) => ({ owner: Uint8Array.of(n) }) as never as Session;
const [followed, good, high, low] = [peer(1), peer(2), peer(3), peer(4)] as const;
const target = { session: followed, height: 9, id: Uint8Array.of(7), score: 9n } as PeerTip;
const heights = new Map([
  [followed, 9],
  [good, 9],
  [high, 9],
  [low, 3],
]);

function setUp(holders: readonly Session[]) {
  const clock = fakeClock(1_700_000_000_000);
  const reaching = (height: number) =>
    [...heights].flatMap(([session, own]) => (own >= height ? [session] : []));
  return { clock, helpers: new BlockSources({ holders: () => holders, reaching }, clock) };
}

/** In which order they are asked for a block at this height, until all have been. */
function order(helpers: BlockSources, height: number): Session[] {
  const asked = new Set<Session>();
  for (;;) {
    const next = helpers.next(target, height, asked);
    if (next === undefined) return [...asked];
    asked.add(next);
  }
}

t.test('peers with as good a score come first, then those that are high enough', async (t) => {
  const { helpers } = setUp([followed, good]);
  const first = order(helpers, 5);
  t.strictSame(new Set(first.slice(0, 2)), new Set([followed, good]));
  t.strictSame(first.slice(2), [high]);
  t.strictSame(order(setUp([followed]).helpers, 3).length, 4, 'at a height that all have');
  t.strictSame(order(setUp([]).helpers, 10), [], 'nobody');
});

t.test('one that was slow for little comes last, for a minute', async (t) => {
  const { helpers, clock } = setUp([followed]);
  t.strictSame(order(helpers, 5)[0], followed);
  helpers.answered(followed, 3_900, 3_000);
  t.strictSame(order(helpers, 5).at(-1), followed);
  helpers.answered(followed, 3_900, 2_000_000);
  t.strictSame(order(helpers, 5)[0], followed, 'its line was full');
  helpers.answered(followed, 3_900, 0);
  await clock.advance(60_001);
  t.strictSame(order(helpers, 5)[0], followed);
});

t.test('one that lacks a block is not asked for the next ones, for a minute', async (t) => {
  const { helpers, clock } = setUp([followed]);
  helpers.lacks(high, target);
  t.notOk(order(helpers, 5).includes(high));
  const other = { ...target, id: Uint8Array.of(8) };
  t.equal(helpers.next(other, 5, new Set([followed, good])), high, 'another chain');
  await clock.advance(60_001);
  t.ok(order(helpers, 5).includes(high));
  helpers.lacks(followed, target);
  t.ok(order(helpers, 5).includes(followed), 'the followed one has said that it has them');
});
