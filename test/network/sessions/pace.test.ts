/** The limits of what one peer may request: each protocol has a pace, over all sessions. */
import t, { type Test } from 'tap';
import type { ConnectedSession } from '../../../src/network/sessions/connected-session.ts';
import { createPace } from '../../../src/network/sessions/pace.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { createParties, immediately } from '../parties.ts';

const PACE = { messages: 10, bytes: 1000 };

async function settle(): Promise<void> {
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
}

t.test('a pace', async (t) => {
  const clock = fakeClock(0);
  const pace = createPace(clock, PACE);
  t.strictSame(
    Array.from({ length: 21 }, () => pace.spend(10)),
    [...Array(20).fill(0), 100],
    'two seconds at once, then no faster than ten in a second',
  );
  await clock.advance(2100);
  t.equal(pace.spend(2000), 0, 'bytes count like messages');
  t.equal(pace.spend(500, 0), 500);
  t.notOk(pace.isFlood());
  for (let i = 0; i < 61; i++) {
    pace.spend(1100);
    await clock.advance(1000);
  }
  t.ok(pace.isFlood(), 'a minute without a break');
});

/** Two parties on a clock of the test; what the first asks of the second is counted. */
async function paced(t: Test) {
  const clock = fakeClock(0);
  const parties = createParties(clock, { after: immediately });
  const [a, b] = [parties.party('a'), parties.party('b')];
  let answered = 0;
  for (const { sessions } of [a, b]) {
    sessions.handleRequests('r/1', {
      messageBytesMax: 10,
      answerBytesMax: 5000,
      concurrent: 4,
      pace: PACE,
      async answer(_session, message) {
        answered++;
        return new Uint8Array(message[0] === 2 ? 4000 : 1);
      },
    });
  }
  for (const party of [a, b]) {
    await party.listen();
    t.teardown(party.stop);
  }
  const ask = (near: Pick<ConnectedSession, 'request'>, kind = 1): void =>
    void near.request('r/1', Uint8Array.of(kind), 600_000).catch(() => {});
  return { clock, a, b, ask, answered: () => answered };
}

t.test('requests that come too fast are answered later', async (t) => {
  const { clock, a, b, ask, answered } = await paced(t);
  const near = await a.dial(b);
  for (let i = 0; i < 100; i++) ask(near);
  await settle();
  t.ok(answered() >= 19 && answered() <= 24, `${answered()} at once`);
  for (let i = 0; i < 30; i++) {
    await clock.advance(100);
    await settle();
  }
  t.ok(answered() >= 45 && answered() <= 56, `${answered()} three seconds later`);
});

t.test('large answers hold back what comes after them', async (t) => {
  const { clock, a, b, ask, answered } = await paced(t);
  const near = await a.dial(b);
  ask(near, 2);
  await settle();
  for (let i = 0; i < 3; i++) ask(near);
  await clock.advance(1000);
  await settle();
  t.equal(answered(), 1);
  await clock.advance(2000);
  await settle();
  t.equal(answered(), 4);
});

t.test('a new session does not pay for what was spent', async (t) => {
  const { a, b, ask, answered } = await paced(t);
  for (let i = 0; i < 3; i++) {
    const near = await a.dial(b);
    for (let k = 0; k < 40; k++) ask(near);
    await settle();
    near.close('and again');
    await settle();
  }
  t.ok(answered() <= 24, `${answered()} in three sessions`);
});
