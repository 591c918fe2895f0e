// Which heads of peers are followed.
import t from 'tap';
import { encodeTip } from '../../../src/network/messages/block-messages.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { PeerTips } from '../../../src/network/sync/peer-tips.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const [one, two] = [1, 2].map((n) => ({ owner: Uint8Array.of(n) }) as never as Session);
const idOf = (byte: number): Uint8Array => new Uint8Array(64).fill(byte);

interface Head {
  readonly height: number;
  readonly id: Uint8Array;
  readonly score: bigint;
}

/** `one` and `two` are connected; `announce` tells a head of one of them. */
function setUp(tip: Head, kind: 'poa' | 'pos', asks: (peer: Session) => boolean = () => false) {
  const clock = fakeClock(1_700_000_000_000);
  let take: ((session: Session, message: Uint8Array) => void) | undefined;
  const peerTips = new PeerTips(
    { scoreTtlMs: 120_000 },
    {
      scheme,
      clock,
      blockchain: { tip: () => ({ ...tip, header: { consensus: { kind } } }) } as never,
      sessions: {
        handleNotices(_: unknown, handler: { take: typeof take }) {
          take = handler.take;
        },
        onOpen(action: (session: Session) => void) {
          for (const session of [one, two]) action(session!);
        },
        onClose: () => {},
      } as never,
      seeking: { asks, asked: () => {} },
    },
  );
  peerTips.start();
  const announce = (session: Session | undefined, head: Head): void =>
    take?.(session!, encodeTip(head, scheme));
  return { clock, peerTips, announce };
}

t.test('a head that has lost to our tip is looked at again after a minute', async (t) => {
  const { clock, peerTips, announce } = setUp({ height: 1, id: idOf(5), score: 1n }, 'poa');
  const head = { height: 2, id: idOf(4), score: 2n };
  announce(one, head);
  t.equal(peerTips.best()?.height, 2);
  peerTips.markLost(head);
  t.equal(peerTips.best(), undefined);
  await clock.advance(60_001);
  t.equal(peerTips.best()?.height, 2, 'lateness may not count any more');
});

t.test('a chain with a lower score is followed where votes speak for it', async (t) => {
  let asked: readonly (Session | undefined)[] = [];
  const tip = { height: 3, id: idOf(5), score: 3n };
  const { peerTips, announce } = setUp(tip, 'poa', (peer) => asked.includes(peer));
  for (const session of [one, two]) announce(session, { height: 2, id: idOf(4), score: 2n });
  t.equal(peerTips.best(), undefined);
  asked = [two];
  t.equal(peerTips.best()?.session, two, 'of one that is to be asked now');
});

t.test('a sibling is looked at where it may take the place of our tip', async (t) => {
  const follows = (kind: 'poa' | 'pos', byte: number, height = 2): boolean => {
    const { peerTips, announce } = setUp({ height: 2, id: idOf(5), score: 3n }, kind);
    announce(one, { height, id: idOf(byte), score: 3n });
    return peerTips.best() !== undefined;
  };
  t.ok(follows('poa', 4), 'the lower id');
  t.notOk(follows('poa', 6));
  t.ok(follows('pos', 4));
  t.ok(follows('pos', 6), 'it may be the earlier one, which its id does not show');
  t.notOk(follows('pos', 5), 'our own');
  t.notOk(follows('pos', 6, 3), 'no sibling');
});
