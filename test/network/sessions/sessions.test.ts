import t, { type Test } from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { misconduct } from '../../../src/base/faults/misconduct.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import type { Delivery, Fate } from '../../simulated/memory-net.ts';
import { createParties, immediately, type Party, type PartyOptions, until } from '../parties.ts';

const YEAR_MS = 365 * 86_400_000;

type Prepare = (party: Party) => void;

async function two(
  t: Test,
  prepare: Prepare,
  other: PartyOptions = {},
  faults?: (delivery: Delivery) => Fate,
) {
  const parties = createParties(undefined, {
    after: immediately,
    ...(faults === undefined ? {} : { faults }),
  });
  const [a, b] = [parties.party('a'), parties.party('b', other)];
  for (const party of [a, b]) {
    prepare(party);
    await party.listen();
    t.teardown(party.stop);
  }
  const near = await a.dial(b);
  return { ...parties, a, b, near, far: b.sessions.of(a.owner)! };
}

t.test('requests are answered, refused, and given up', async (t) => {
  const { near, far } = await two(t, ({ sessions }) =>
    sessions.handleRequests('double/1', {
      messageBytesMax: 100,
      answerBytesMax: 100,
      concurrent: 2,
      async answer(session, message) {
        if (message[0] === 0) throw new Error(`${session.nodeName} asked for nothing`);
        if (message[0] === 255) return new Promise<never>(() => {});
        return message.map((byte) => byte * 2);
      },
    }),
  );
  t.strictSame([...(await near.request('double/1', Uint8Array.of(4), 1000))], [8]);
  t.strictSame([...(await far.request('double/1', Uint8Array.of(5), 1000))], [10]);
  await t.rejects(near.request('double/1', Uint8Array.of(0), 1000), {
    name: 'RequestRefused',
    message: 'a asked for nothing',
  });
  await t.rejects(near.request('double/1', Uint8Array.of(255), 30), {
    message: /no answer in time/,
  });
  await t.rejects(near.request('unknown/1', Uint8Array.of(1), 1000));
  t.strictSame([...(await near.request('double/1', Uint8Array.of(6), 1000))], [12], 'it goes on');
});

t.test('a request that waits for another keeps to its time', async (t) => {
  const { near } = await two(t, ({ sessions }) =>
    sessions.handleRequests('never/1', {
      messageBytesMax: 10,
      answerBytesMax: 10,
      concurrent: 1,
      answer: () => new Promise<never>(() => {}),
    }),
  );
  const ended: string[] = [];
  const ask = (name: string, ms: number): Promise<void> =>
    near.request('never/1', Uint8Array.of(1), ms).then(
      () => void t.fail('nobody answers'),
      (cause: Error) => void ended.push(`${name}: ${cause.name}`),
    );
  await Promise.all([ask('long', 500), ask('short', 30)]);
  t.strictSame(ended, ['short: NeverBegun', 'long: SilentLine']);
});

t.test('no more requests at a time than allowed', async (t) => {
  let [now, most] = [0, 0];
  const { near } = await two(t, ({ sessions }) =>
    sessions.handleRequests('slow/1', {
      messageBytesMax: 10,
      answerBytesMax: 10,
      concurrent: 3,
      async answer(_session, message) {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 3));
        now--;
        return message;
      },
    }),
  );
  const all = Array.from({ length: 50 }, (_, i) => near.request('slow/1', Uint8Array.of(i), 5000));
  t.strictSame(
    (await Promise.all(all)).map(([first]) => first),
    Array.from({ length: 50 }, (_, i) => i),
  );
  t.equal(most, 3);
});

t.test('notices arrive in order, and a full queue drops', async (t) => {
  const got: number[] = [];
  const { near } = await two(t, ({ sessions }) =>
    sessions.handleNotices('n/1', {
      messageBytesMax: 5_000_000,
      take: (_session, message) => void got.push(message[0]!),
    }),
  );
  for (let i = 0; i < 100; i++) t.ok(near.notify('n/1', Uint8Array.of(i)));
  await until('100 notices', () => got.length === 100);
  t.strictSame(
    got,
    Array.from({ length: 100 }, (_, i) => i),
  );
  const large = new Uint8Array(4_000_000);
  const taken = Array.from({ length: 10 }, () => near.notify('n/1', large));
  t.ok(taken[0]);
  t.notOk(taken[9], 'bytes are bounded');
});

t.test('malformed messages end the session and blacklist the owner', async (t) => {
  const strict: Prepare = ({ sessions }) => {
    const refuse = (): never => {
      throw new CodecError('bytes', 'nonsense');
    };
    sessions.handleNotices('n/1', { messageBytesMax: 10, take: refuse });
    sessions.handleRequests('r/1', {
      messageBytesMax: 10,
      answerBytesMax: 10,
      concurrent: 1,
      answer: async () => refuse(),
    });
  };
  const attacks: Record<string, (party: Party, near: Party['sessions']) => void> = {
    'a notice that cannot be read': (_b, s) => void s.all()[0]?.notify('n/1', Uint8Array.of(1)),
    'a request that cannot be read': (_b, s) =>
      void s
        .all()[0]
        ?.request('r/1', Uint8Array.of(1), 500)
        .catch(() => {}),
    'a notice that is too long': (_b, s) => void s.all()[0]?.notify('n/1', new Uint8Array(11)),
    'a request that is too long': (_b, s) =>
      void s
        .all()[0]
        ?.request('r/1', new Uint8Array(11), 500)
        .catch(() => {}),
  };
  for (const [name, attack] of Object.entries(attacks)) {
    const { a, b } = await two(t, strict);
    attack(b, a.sessions);
    await until(name, () => b.sessions.all().length === 0);
    t.match(b.penalties.blacklisted(), [{ reason: /^malformed-message/ }], name);
    t.equal(b.events.length, 2, name);
    await until(name, () => a.sessions.all().length === 0);
    await t.rejects(a.dial(b));
    b.penalties.clearBlacklist();
    await a.dial(b);
  }
});

t.test('a session ends once, on both sides', async (t) => {
  const { a, b, near } = await two(t, () => {});
  near.close('enough');
  near.close('again');
  await until('the end', () => b.events.length === 2);
  t.strictSame(a.events, ['+b', '-b: enough']);
  t.strictSame(b.events, ['+a', '-a: the connection has ended']);
  t.notOk(near.notify('alive/1', new Uint8Array(0)));
  await t.rejects(near.request('alive/1', new Uint8Array(0), 10));
});

t.test('who ends its connection has withheld nothing', async (t) => {
  const clock = fakeClock(0);
  const parties = createParties(clock, { after: immediately });
  const [a, b, c] = [parties.party('a'), parties.party('b'), parties.party('c')];
  for (const party of [a, b, c]) await party.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop(), c.stop()]));
  const blamed = () => a.log.of('peer.offence').length;
  const near = [await a.dial(b), await a.dial(c)];
  for (const session of near) session.offend('withheld', misconduct('no answer'));
  t.equal(blamed(), 0);
  await b.stop();
  await until('the end of b', () => a.sessions.all().length === 1);
  await clock.advance(1900);
  t.equal(blamed(), 0, 'it may be about to end');
  await clock.advance(100);
  t.equal(blamed(), 1, 'the one that has stayed');
  const waiting = clock.timers();
  for (let i = 0; i < 5000; i++) near[1]!.offend('withheld', misconduct('no answer'));
  t.equal(clock.timers(), waiting + 1, 'one timer for a session');
  await a.stop();
  t.equal(clock.timers(), waiting - 1, 'neither it nor the heartbeat waits after a stop');
  near[1]!.offend('withheld', misconduct('no answer'));
  t.equal(clock.timers(), waiting - 1, 'nor does a session that has ended');
});

t.test('removed owners lose their sessions, returned ones may come back', async (t) => {
  const { a, b, registered } = await two(t, () => {});
  registered.delete(latin1(a.owner));
  b.sessions.evict((owner) => registered.has(latin1(owner)));
  t.match(b.events, ['+a', /is not permitted to join the cluster/]);
  await t.rejects(a.dial(b), { message: /is not permitted to join the cluster/ });
  registered.set(latin1(a.owner), a.keys.publicKey);
  await until('the end', () => a.sessions.all().length === 0);
  await a.dial(b);
  t.equal(b.sessions.all().length, 1);
});

t.test('a peer that is silent for a minute is dropped, one that lives is not', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  let partition = false;
  const parties = createParties(clock, { after: immediately, faults: () => ({ lost: partition }) });
  const [a, b] = [parties.party('a'), parties.party('b')];
  await a.listen();
  await b.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop()]));
  await a.dial(b);
  for (let i = 0; i < 100; i++) {
    await clock.advance(6000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.strictSame([a.events, b.events], [['+b'], ['+a']], 'ten minutes without anything to say');
  partition = true;
  for (let i = 0; i < 20; i++) await clock.advance(6000);
  t.match(a.events, ['+b', '-b: no message for too long']);
  t.match(b.events, ['+a', '-a: no message for too long']);
});

t.test('a time of day that jumps by a year ends no session and no request', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  const parties = createParties(clock);
  const [a, b] = [parties.party('a'), parties.party('b')];
  for (const { sessions } of [a, b]) {
    sessions.handleRequests('echo/1', {
      messageBytesMax: 10,
      answerBytesMax: 10,
      concurrent: 1,
      async answer(_session, message) {
        // While the second request waits in line for the first.
        if (message[0] === 1) clock.jump(YEAR_MS);
        return message;
      },
    });
  }
  await a.listen();
  await b.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop()]));
  const near = await a.dial(b);
  const answers = [1, 2].map((value) => near.request('echo/1', Uint8Array.of(value), 10_000));
  t.strictSame(await Promise.all(answers), [Uint8Array.of(1), Uint8Array.of(2)]);
  for (const jump of [YEAR_MS, -YEAR_MS]) {
    clock.jump(jump);
    for (let i = 0; i < 20; i++) {
      await clock.advance(6000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  t.strictSame([a.events, b.events], [['+b'], ['+a']]);
});

t.test('who withholds an answer is told from a dead line', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  let partition = false;
  const parties = createParties(clock, { after: immediately, faults: () => ({ lost: partition }) });
  const [a, b] = [parties.party('a'), parties.party('b')];
  for (const { sessions } of [a, b]) {
    sessions.handleRequests('never/1', {
      messageBytesMax: 10,
      answerBytesMax: 10,
      concurrent: 2,
      answer: () => new Promise<never>(() => {}),
    });
  }
  await a.listen();
  await b.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop()]));
  const near = await a.dial(b);
  async function outcome(): Promise<unknown> {
    const asked = near.request('never/1', Uint8Array.of(1), 40_000).catch((cause) => cause.name);
    for (let i = 0; i < 9; i++) {
      await clock.advance(5000);
      for (let k = 0; k < 5; k++) await new Promise((resolve) => setImmediate(resolve));
    }
    return asked;
  }
  t.equal(await outcome(), 'NoAnswer', 'it shows that it is alive');
  partition = true;
  t.equal(await outcome(), 'SilentLine');
});

t.test('a connection that ends while the proof is checked leaves no session behind', async (t) => {
  const parties = createParties();
  const a = parties.party('a');
  const b = parties.party('b', {
    ports: {
      async verify() {
        await a.network.close();
        // Until b has heard of it.
        for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
        return true;
      },
    },
  });
  await b.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop()]));
  await t.rejects(a.dial(b));
  await until('the end', () => b.log.of('peer.refused').length === 1);
  t.match(b.log.of('peer.refused'), [{ why: 'The connection has ended' }]);
  t.strictSame([b.sessions.all(), b.events], [[], []]);
});

t.test('a truncated frame ends the session', async (t) => {
  let truncated = false;
  const { a, b, near } = await two(
    t,
    ({ sessions }) => sessions.handleNotices('n/1', { messageBytesMax: 10, take: () => {} }),
    {},
    () => ({ truncated }),
  );
  truncated = true;
  near.notify('n/1', Uint8Array.of(1));
  await until('the end', () => a.events.length === 2 && b.events.length === 2);
  t.strictSame(b.penalties.blacklisted(), [], 'which may happen to anybody');
});

t.test('notices are read no faster than 500 in a second', async (t) => {
  const clock = fakeClock(1_700_000_000_000);
  const parties = createParties(clock);
  let got = 0;
  const [a, b] = [parties.party('a'), parties.party('b')];
  for (const { sessions } of [a, b]) {
    sessions.handleNotices('n/1', { messageBytesMax: 10, take: () => void got++ });
  }
  await a.listen();
  await b.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop()]));
  const near = await a.dial(b);
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  for (let i = 0; i < 2000; i++) near.notify('n/1', Uint8Array.of(1));
  await turns(5000);
  t.ok(got >= 1000 && got < 1010, `${got} at once`);
  await clock.advance(1000);
  await turns(2000);
  t.ok(got < 1520, `${got} after a second`);
  for (let i = 0; i < 80 && b.events.length < 2; i++) {
    while (near.notify('n/1', Uint8Array.of(1)));
    for (let k = 0; k < 10; k++) await clock.advance(100);
    await turns(20);
  }
  t.match(b.events[1], /^-a: flood/, 'a minute of that is a flood');
});

t.test('a peer of the configuration finds a place in a full node', async (t) => {
  const parties = createParties();
  const full = parties.party('full', { sessions: { connectionsMax: 2 }, configured: ['10.0.0.4'] });
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => parties.party(name)) as [
    Party,
    Party,
    Party,
    Party,
  ];
  await full.listen();
  t.teardown(() => Promise.all([full, a, b, c, d].map((one) => one.stop())));
  await a.dial(full);
  await b.dial(full);
  await t.rejects(d.dial(full), { message: /reached maximum number/ });
  t.equal(c.host, '10.0.0.4');
  await c.dial(full);
  t.strictSame(
    full.sessions.all().map(({ nodeName }) => nodeName),
    ['a', 'c'],
    'the newest of the others makes room',
  );
});

t.test('streams before the handshake', async (t) => {
  const served: string[] = [];
  const parties = createParties(undefined, { after: immediately });
  const [a, b] = [parties.party('a'), parties.party('b')];
  b.sessions.handleRequests('r/1', {
    messageBytesMax: 10,
    answerBytesMax: 10,
    concurrent: 100,
    async answer() {
      served.push('one');
      return new Uint8Array(0);
    },
  });
  await b.listen();
  t.teardown(() => Promise.all([a.stop(), b.stop()]));
  const connection = await a.network.dial(b.host, b.port, AbortSignal.timeout(5_000));
  let isClosed = false;
  connection.onClose(() => {
    isClosed = true;
  });
  const stream = await connection.open('/permchain/T/r/1', 10);
  await t.rejects(stream.receive(), /reset/, 'nothing waits for the end of the handshake');
  for (let i = 0; i < 20; i++) await connection.open('/permchain/T/r/1', 10).catch(() => {});
  await until('the end', () => isClosed);
  t.strictSame(served, []);
});

t.test('connections of one host without a session', async (t) => {
  const parties = createParties(undefined, { after: immediately });
  const [a, b, c] = [parties.party('a'), parties.party('b'), parties.party('c')];
  await b.listen();
  t.teardown(() => Promise.all([a, b, c].map((one) => one.stop())));
  let closed = 0;
  for (let i = 0; i < 60; i++) {
    const connection = await a.network.dial(b.host, b.port, AbortSignal.timeout(5_000));
    connection.onClose(() => void closed++);
  }
  await until('the oldest make room', () => closed === 60 - 16);
  t.equal((await c.dial(b)).nodeName, 'b', 'others find a place');
});

t.test('a registry holds a timer from its start to its stop', async (t) => {
  const clock = fakeClock(0);
  const party = createParties(clock).party('a');
  t.equal(clock.timers(), 0, 'none before it starts');
  await party.listen();
  t.equal(clock.timers(), 1);
  await party.stop();
  t.equal(clock.timers(), 0);
});
