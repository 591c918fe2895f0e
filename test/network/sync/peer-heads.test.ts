// Which heads of peers are followed.
import t from 'tap';
import { encodeHead } from '../../../src/network/messages/block-messages.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { PeerHeads } from '../../../src/network/sync/peer-heads.ts';
import { genesis, scheme } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';

t.test('a head that has lost to our tip is looked at again after a minute', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  const session = { owner: Uint8Array.of(1) } as never as Session;
  let announce: ((session: Session, message: Uint8Array) => void) | undefined;
  const { header } = genesis;
  const tip = { height: 1, id: header.signature, header, score: 1n };
  const heads = new PeerHeads(
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
  heads.start();
  const head = { height: 2, id: header.signature.map((byte) => byte ^ 1), score: 2n };
  announce?.(session, encodeHead(head, scheme));
  t.equal(heads.best()?.height, 2);
  heads.markLost(head);
  t.equal(heads.best(), undefined);
  await clock.advance(60_001);
  t.equal(heads.best()?.height, 2, 'lateness may not count any more');
});
