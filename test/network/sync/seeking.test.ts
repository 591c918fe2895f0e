// How often a peer is asked for a block that votes speak for and that it does not send.
import t from 'tap';
import {
  blockProtocols,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import type { Session, Sessions } from '../../../src/network/sessions/session.ts';
import { PeerTips } from '../../../src/network/sync/peer-tips.ts';
import { Sync } from '../../../src/network/sync/sync.ts';
import { JustifiedSearch } from '../../../src/node/finality/justified-search.ts';
import { mine, newChain, quiet, scheme } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const ENDLESS = 1_000;

t.test('with a growing pause, while nothing new is known', async (t) => {
  const at = await newChain(createMemoryStore());
  for (let i = 0; i < 3; i++) await mine(at);
  const clock = fakeClock(1_700_000_000_000);
  const { blockchain } = at;
  const { id } = blockchain.tip();
  const requests: number[] = [];
  const session = {
    owner: Uint8Array.of(1),
    nodeName: 'peer',
    request(protocol: string) {
      t.equal(protocol, blockProtocols.ids);
      requests.push(Math.round(clock.monotonic() / 1_000));
      // The test would never end.
      if (requests.length > ENDLESS) return new Promise(() => {});
      return Promise.resolve(encodeIds({ common: id, next: [] }, scheme));
    },
    offend: (offence: string) => t.fail(offence),
  } as never as Session;
  let announce: ((session: Session, message: Uint8Array) => void) | undefined;
  const sessions = {
    all: () => [session],
    of: () => session,
    handleNotices: (_: unknown, { take }: { take: typeof announce }) => {
      announce = take;
    },
    onOpen: (action: (session: Session) => void) => action(session),
    onClose: () => {},
  } as never as Sessions;
  const sought = { height: 5, keys: ['a'] };
  const seeking = new JustifiedSearch<Session>({
    clock,
    head: () => blockchain.tip(),
    sought: () => sought,
    hasTold: () => true,
    peers: () => [session],
  });
  const peerTips = new PeerTips(
    { scoreTtlMs: 600_000 },
    { scheme, blockchain, sessions, clock, seeking },
  );
  peerTips.start();
  const sync = new Sync(
    { batch: 10, timeoutMs: 10_000, transactionBytesMax: 1_000 },
    {
      scheme,
      blockchain,
      peerTips,
      sessions,
      clock,
      log: quiet,
      forkChoice: { invalid: { has: () => false }, depthMax: () => 100 } as never,
      isOutdated: () => false,
    },
  );
  sync.start();
  const lower = { height: 3, id: id.map((byte) => byte ^ 1), score: 1n };
  for (let i = 0; i < 150; i++) {
    announce?.(session, encodeTip(lower, scheme));
    sync.wake();
    await clock.advance(1_000);
  }
  t.ok(requests.length >= 6 && requests.length <= 8, `asked at ${requests.join(', ')} s`);
  sought.height = 6;
  seeking.changed();
  const before = requests.length;
  sync.wake();
  await clock.advance(1);
  t.equal(requests.length, before + 1, 'at once for a higher block');
  await sync.stop();
});
