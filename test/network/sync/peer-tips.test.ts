// Which heads of peers are followed.
import t from 'tap';
import { encodeTip } from '../../../src/network/messages/block-messages.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { PeerTips } from '../../../src/network/sync/peer-tips.ts';
import { genesis, scheme } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';

t.test('a head that has lost to our tip is looked at again after a minute', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  const session = { owner: Uint8Array.of(1) } as never as Session;
  let announce: ((session: Session, message: Uint8Array) => void) | undefined;
  const { header } = genesis;
  const tip = { height: 1, id: header.signature, header, score: 1n };
  const peerTips = new PeerTips(
    { scoreTtlMs: 120_000 },
    {
      scheme,
      clock,
      blockchain: { tip: () => tip } as never,
      sessions: {
        handleNotices: (_: unknown, { take }: { take: typeof announce }) => {
          announce = take;
        },
        onOpen: (action: (session: Session) => void) => action(session),
        onClose: () => {},
      } as never,
    },
  );
  peerTips.start();
  const head = { height: 2, id: header.signature.map((byte) => byte ^ 1), score: 2n };
  announce?.(session, encodeTip(head, scheme));
  t.equal(peerTips.best()?.height, 2);
  peerTips.markLost(head);
  t.equal(peerTips.best(), undefined);
  await clock.advance(60_001);
  t.equal(peerTips.best()?.height, 2, 'lateness may not count any more');
});

t.test('a chain with a lower score is followed where votes speak for it', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  const [one, two] = [1, 2].map((n) => ({ owner: Uint8Array.of(n) }) as never as Session);
  let announce: ((session: Session, message: Uint8Array) => void) | undefined;
  let asks: readonly (Session | undefined)[] = [];
  const { header } = genesis;
  const peerTips = new PeerTips(
    { scoreTtlMs: 120_000 },
    {
      scheme,
      clock,
      blockchain: { tip: () => ({ height: 3, id: header.signature, header, score: 3n }) } as never,
      sessions: {
        handleNotices: (_: unknown, { take }: { take: typeof announce }) => {
          announce = take;
        },
        onOpen(action: (session: Session) => void) {
          for (const session of [one, two]) action(session!);
        },
        onClose: () => {},
      } as never,
      seeking: { asks: (peer) => asks.includes(peer), asked: () => {} },
    },
  );
  peerTips.start();
  const lower = { height: 2, id: header.signature.map((byte) => byte ^ 1), score: 2n };
  for (const session of [one, two]) announce?.(session!, encodeTip(lower, scheme));
  t.equal(peerTips.best(), undefined);
  asks = [two];
  t.equal(peerTips.best()?.session, two, 'of one that is to be asked now');
});

t.test('a sibling is looked at where it may take the place of our tip', async (t) => {
  const session = { owner: Uint8Array.of(1) } as never as Session;
  const idOf = (byte: number): Uint8Array => new Uint8Array(64).fill(byte);
  const follows = (kind: 'poa' | 'pos', byte: number, height = 2): boolean => {
    let announce: ((session: Session, message: Uint8Array) => void) | undefined;
    const tip = { height: 2, id: idOf(5), header: { consensus: { kind } }, score: 3n };
    const peerTips = new PeerTips(
      { scoreTtlMs: 120_000 },
      {
        scheme,
        clock: fakeClock(1_700_000_000_000),
        blockchain: { tip: () => tip } as never,
        sessions: {
          handleNotices: (_: unknown, { take }: { take: typeof announce }) => {
            announce = take;
          },
          onOpen: (action: (session: Session) => void) => action(session),
          onClose: () => {},
        } as never,
      },
    );
    peerTips.start();
    announce?.(session, encodeTip({ height, id: idOf(byte), score: 3n }, scheme));
    return peerTips.best() !== undefined;
  };
  t.ok(follows('poa', 4), 'the lower id');
  t.notOk(follows('poa', 6));
  t.ok(follows('pos', 4));
  t.ok(follows('pos', 6), 'it may be the earlier one, which its id does not show');
  t.notOk(follows('pos', 5), 'our own');
  t.notOk(follows('pos', 6, 3), 'no sibling');
});
