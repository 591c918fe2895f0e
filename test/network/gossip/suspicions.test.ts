// Who is to blame for wrong proofs, and for how long many of them mute a peer.
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import type { ChainListener } from '../../../src/chain/chain-head.ts';
import { heights } from '../../../src/ledger/tables.ts';
import { Suspicions, WRONG_PROOFS_MAX } from '../../../src/network/gossip/suspicions.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import type { PeerTip } from '../../../src/network/sync/peer-tips.ts';
import { WrongProof } from '../../../src/tx/wrong-proof.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const SECOND = 1000;
const KEPT_MS = 60 * SECOND;
const id = (n: number): Uint8Array => new Uint8Array(64).fill(n);
const plain = new Uint8Array(26).fill(1);
const scripted = new Uint8Array(26).fill(2);
const OURS = id(1);
const AHEAD = id(2);

function scene() {
  const clock = fakeClock(0);
  const offences: string[] = [];
  const errors: string[] = [];
  const isIll = { value: false };
  const chain = new Set([latin1(OURS), latin1(id(9))]);
  const scripts = new Set([latin1(scripted)]);
  let onTip: (head: PeerTip) => void = () => {};
  const listeners: ChainListener[] = [];
  const blockchain = {
    view: {
      get: (table: unknown, key: Uint8Array) =>
        table === heights && chain.has(latin1(key)) ? 5 : undefined,
    },
    listen: (listener: ChainListener) => {
      listeners.push(listener);
      return () => {};
    },
  };
  const suspicions = new Suspicions(
    { keptMs: KEPT_MS },
    {
      blockchain: blockchain as never,
      peerTips: { onTip: (action) => (onTip = action) },
      scripts: {
        async hadScript(account) {
          if (isIll.value) throw new Error('the row is damaged');
          return scripts.has(latin1(account));
        },
      },
      clock,
      log: { ...quiet, error: (event) => void errors.push(event) },
    },
  );
  suspicions.start();
  const sessionOf = (owner: number): Session =>
    ({
      owner: new Uint8Array(26).fill(owner),
      offend: (offence: string) => void offences.push(offence),
    }) as never;
  const peer = sessionOf(7);
  return {
    clock,
    offences,
    errors,
    isIll,
    suspicions,
    peer,
    sessionOf,
    scripts,
    head(of: Uint8Array, session = peer) {
      onTip({ session, id: of, height: 5, score: 5n });
      return clock.advance(0);
    },
    /** It has been on our chain for so long that its pool holds nothing of another one. */
    async settle(of = OURS, session = peer): Promise<void> {
      await this.head(of, session);
      await clock.advance(KEPT_MS);
      await this.head(of, session);
    },
    note: (account: Uint8Array, session = peer) =>
      suspicions.note(session, new WrongProof(account, 'it validates as nothing')),
    /** Our chain gets this block. */
    adopt(block: Uint8Array) {
      chain.add(latin1(block));
      for (const one of listeners) one.block?.({} as never);
      return clock.advance(0);
    },
  };
}

t.test(
  'an account without a script: once, however many came, and some seconds later',
  async (t) => {
    const s = scene();
    await s.settle();
    for (let i = 0; i < 20; i++) s.note(plain);
    await s.head(OURS);
    t.same(s.offences, [], 'a head that was on its way says nothing');
    await s.clock.advance(5 * SECOND);
    await s.head(OURS);
    t.same(s.offences, ['invalid-transactions']);
    await s.head(OURS);
    t.equal(s.offences.length, 1);
    s.note(plain);
    await s.clock.advance(5 * SECOND);
    await s.head(OURS, s.sessionOf(7));
    t.equal(s.offences.length, 2, 'a new session does not clear it');
  },
);

t.test('an account that has a script by then, or had one', async (t) => {
  const s = scene();
  await s.settle();
  s.note(scripted);
  await s.clock.advance(5 * SECOND);
  await s.head(OURS);
  t.same(s.offences, []);
  s.note(scripted);
  s.note(plain);
  await s.clock.advance(5 * SECOND);
  await s.head(OURS);
  t.equal(s.offences.length, 1, 'which does not excuse the others');
});

t.test('a peer ahead is judged when its block is here', async (t) => {
  const s = scene();
  await s.settle();
  s.note(plain);
  await s.clock.advance(5 * SECOND);
  await s.head(AHEAD);
  t.same(s.offences, [], 'its head is unknown');
  s.scripts.add(latin1(plain));
  await s.adopt(AHEAD);
  t.same(s.offences, [], 'and brings the script');

  const other = scene();
  await other.settle();
  other.note(plain);
  await other.clock.advance(5 * SECOND);
  await other.head(AHEAD);
  await other.adopt(AHEAD);
  t.equal(other.offences.length, 1, 'or does not');
});

t.test('what cannot be known is not blamed', async (t) => {
  const silent = scene();
  silent.note(plain);
  await silent.clock.advance(5 * SECOND);
  await silent.head(OURS);
  t.same(silent.offences, [], 'a peer that had announced no head');

  const fork = scene();
  await fork.settle(id(5));
  fork.note(plain);
  await fork.clock.advance(5 * SECOND);
  await fork.head(OURS);
  t.same(fork.offences, [], 'a peer that was on another branch');

  const back = scene();
  await back.settle();
  await back.head(id(5));
  await back.head(OURS);
  back.note(plain);
  await back.clock.advance(5 * SECOND);
  await back.head(OURS);
  t.same(back.offences, [], 'a peer that has come back from another branch');
  await back.settle();
  back.note(plain);
  await back.clock.advance(5 * SECOND);
  await back.head(OURS);
  t.equal(back.offences.length, 1, 'which its pool forgets');

  const again = scene();
  await again.settle();
  const session = again.sessionOf(7);
  await again.head(OURS, session);
  again.note(plain, session);
  await again.clock.advance(5 * SECOND);
  await again.head(OURS, session);
  t.same(again.offences, [], 'a peer that was away');
  again.note(plain, again.peer);
  t.same(again.offences, [], 'or whose session has ended');

  const late = scene();
  await late.settle();
  late.note(plain);
  await late.clock.advance(601 * SECOND);
  await late.head(OURS);
  t.same(late.offences, [], 'after ten minutes');
});

t.test('many wrong proofs mute a peer for a while, whoever they are of', async (t) => {
  const s = scene();
  await s.head(OURS);
  const other = s.sessionOf(8);
  for (let i = 0; i < WRONG_PROOFS_MAX - 1; i++) s.note(scripted);
  t.notOk(s.suspicions.isMuted(s.peer));
  await s.clock.advance(9 * SECOND);
  s.note(scripted);
  t.ok(s.suspicions.isMuted(s.peer));
  t.ok(s.suspicions.isMuted(s.sessionOf(7)), 'a new session does not help');
  t.notOk(s.suspicions.isMuted(other));
  await s.clock.advance(9 * SECOND);
  t.ok(s.suspicions.isMuted(s.peer));
  await s.clock.advance(SECOND);
  t.notOk(s.suspicions.isMuted(s.peer));
  s.note(scripted);
  t.notOk(s.suspicions.isMuted(s.peer), 'it begins anew');
});

t.test('a judgement that fails blames nobody, and the node goes on', async (t) => {
  const s = scene();
  await s.settle();
  s.isIll.value = true;
  s.note(plain);
  await s.clock.advance(5 * SECOND);
  await s.head(OURS);
  t.same(s.errors, ['peer.not-judged']);
  t.same(s.offences, []);
  s.isIll.value = false;
  s.note(plain);
  await s.clock.advance(5 * SECOND);
  await s.head(OURS);
  t.equal(s.offences.length, 1, 'the next one is judged');
});

t.test('a peer that announces no head is not asked after a wrong proof', async (t) => {
  const s = scene();
  t.notOk(s.suspicions.isMuted(s.peer), 'before it has sent one');
  s.note(plain);
  t.ok(s.suspicions.isMuted(s.peer));
  await s.clock.advance(60 * SECOND);
  t.ok(s.suspicions.isMuted(s.peer), 'after a minute, too');
  t.ok(s.suspicions.isMuted(s.sessionOf(7)), 'nor in a new session');
  t.notOk(s.suspicions.isMuted(s.sessionOf(8)), 'another peer is');
  await s.head(OURS);
  t.notOk(s.suspicions.isMuted(s.peer), 'until it does');
  t.ok(s.suspicions.isMuted(s.sessionOf(7)), 'in that session');
});

t.test('a suspicion does not last for ever', async (t) => {
  const s = scene();
  s.note(plain);
  await s.clock.advance(600 * SECOND - 1);
  t.ok(s.suspicions.isMuted(s.peer));
  await s.clock.advance(1);
  t.notOk(s.suspicions.isMuted(s.peer), 'ten minutes after the last wrong proof');
});
