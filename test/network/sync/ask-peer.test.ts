// Who is to blame for a request without an answer: the peer where it refused, was late or broke the
// stream; nobody where this machine could not ask.
import t from 'tap';
import { apiError, OwnFailure } from '../../../src/base/errors.ts';
import { fetchBlock } from '../../../src/network/gossip/fetch-block.ts';
import type { CompactBlock } from '../../../src/network/messages/block-messages.ts';
import { NoAnswer, RequestRefused, SilentLine } from '../../../src/network/sessions/requests.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { createAskPeer } from '../../../src/network/sync/ask-peer.ts';
import { GivenUp } from '../../../src/network/sync/given-up.ts';
import type { PeerTip } from '../../../src/network/sync/peer-tips.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const NOTHING = new Uint8Array(0);

const noFiles = () =>
  Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'socket' });

/** A session whose requests fail so. */
function failing(error: unknown) {
  const offences: string[] = [];
  const closed: string[] = [];
  const session = {
    nodeName: 'peer',
    owner: new Uint8Array(26),
    request: async () => Promise.reject(error),
    offend: (offence: string) => void offences.push(offence),
    close: (why: string) => void closed.push(why),
  } as never as Session;
  return { session, offences, closed, sessions: { of: () => session } };
}

async function asked(error: unknown) {
  const { session, offences, closed, sessions } = failing(error);
  const deferred: Session[] = [];
  const peerTips = {
    best: () => undefined,
    defer: (of: Session) => void deferred.push(of),
    markSlow: () => {},
  };
  const ask = createAskPeer(1_000, { peerTips, sessions, clock: fakeClock(1) });
  const failure = await ask(session, 'ids/1', new Uint8Array(1), new AbortController().signal).then(
    () => undefined,
    (cause) => cause,
  );
  const reason = failure instanceof GivenUp ? failure.reason : failure;
  return { offences, closed: closed.length, deferred: deferred.length, reason };
}

t.test('a peer that gives no answer', async (t) => {
  const blamed = { offences: ['unanswered-request'], closed: 0, deferred: 1, reason: 'elsewhere' };
  t.same(await asked(new RequestRefused('no')), blamed);
  t.same(await asked(new NoAnswer('late')), blamed);
  t.same(await asked(new SilentLine('nothing comes')), {
    ...{ offences: [], closed: 1, deferred: 1, reason: 'later' },
  });
});

t.test('of two slow peers none is left for the other again and again', async (t) => {
  const clock = fakeClock(1);
  const slow = new Set<Session>();
  const farAway = (name: string) => {
    const answers: ((answer: Uint8Array) => void)[] = [];
    const request = () => new Promise((resolve) => answers.push(resolve));
    const session = { nodeName: name, owner: new Uint8Array(26).fill(name.length), request };
    return { session: session as never as Session, answers };
  };
  const peers = [farAway('a'), farAway('bb')] as const;
  const peerTips = {
    best: () =>
      peers
        .map(({ session }) => ({ session }) as PeerTip)
        .find(({ session }) => !slow.has(session)),
    defer: () => {},
    markSlow: (of: Session, isSlow: boolean) => void (isSlow ? slow.add(of) : slow.delete(of)),
  };
  const ask = createAskPeer(60_000, { peerTips, sessions: { of: () => undefined }, clock });
  const { signal } = new AbortController();
  const asking = (at: (typeof peers)[number]) => ask(at.session, 'ids/1', NOTHING, signal);
  const [one, other] = peers;
  const first = t.rejects(asking(one), /others may be faster/);
  await clock.advance(4_000);
  await first;
  const second = asking(other);
  await clock.advance(1_000);
  one.answers[0]!(NOTHING);
  await clock.advance(3_000);
  other.answers[0]!(NOTHING);
  t.equal(await second, NOTHING, 'it was not left for the first one');
});

t.test('a machine that cannot ask', async (t) => {
  for (const error of [noFiles(), apiError('Overloaded')]) {
    t.same(await asked(error), { offences: [], closed: 0, deferred: 0, reason: error });
  }
  const reason = 'later';
  t.same(await asked(new Error('too many requests wait')), {
    ...{ offences: [], closed: 0, deferred: 1, reason },
  });
});

t.test('an announced block', async (t) => {
  async function fetched(error: unknown) {
    const { session, offences, sessions } = failing(error);
    const rebuild = {
      isTooMuch: () => false,
      from: () => session.request('', new Uint8Array(0), 1),
    };
    const found = fetchBlock({} as CompactBlock, [session], {
      rebuild: rebuild as never,
      sessions: sessions as never,
      log: quiet,
    });
    return { offences, outcome: await found.catch((cause) => cause) };
  }
  const missing = new NoAnswer('late');
  t.same(await fetched(missing), { offences: ['withheld'], outcome: undefined });
  t.same(await fetched(new SilentLine('nothing')), { offences: [], outcome: undefined });
  for (const error of [noFiles(), apiError('Overloaded')]) {
    t.same(await fetched(error), { offences: [], outcome: error });
  }
  t.ok(apiError('Overloaded') instanceof OwnFailure);
});
