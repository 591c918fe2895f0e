// Streams of events: their limits, clients that take nothing, and readers that take long.
import t from 'tap';
import { PassedStreams } from '../../src/adapters/http/connection-threads/passed-streams.ts';
import type { HttpStream } from '../../src/base/ports/http.ts';
import { type StreamReader, Streams } from '../../src/events/streams.ts';
import { type FakeClock, fakeClock } from '../node/fake-clock.ts';

const MIB = 1024 * 1024;
const options = { readersMax: 6, readersOfClientMax: 4 };

function opened(clock: FakeClock, limits = options): Streams<true> {
  return new Streams<true>(limits, {
    clock,
    begin: async () => true,
    pollMs: () => 4000,
    failed(cause) {
      throw cause;
    },
  });
}

interface Client {
  readonly texts: string[];
  /** Of the last text. */
  end: string | undefined;
  takes: boolean;
  readonly stream: HttpStream;
}

/** A client of a reader that always has a text of this length. */
function client(streams: Streams<true>, name: string, chars: number, takes: boolean): Client {
  const texts: string[] = [];
  const endless = (send: (text: string) => void): StreamReader<true> => ({
    async advance() {
      send('x'.repeat(chars));
      return 'waits';
    },
    beat: () => send(':\n'),
  });
  const stream = streams.admit({ client: name, catchesUp: false }).stream(endless);
  const made: Client = { texts, end: undefined, takes, stream };
  stream.begin({
    write(text) {
      texts.push(String(text));
      return made.takes;
    },
    end(text) {
      made.end = String(text);
    },
  });
  return made;
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
};

t.test('the number of streams, in all and of one client', async (t) => {
  const streams = opened(fakeClock(0));
  const [first] = Array.from({ length: 4 }, () => client(streams, 'a', 1, true));
  t.throws(() => client(streams, 'a', 1, true), /overloaded/);
  client(streams, 'b', 1, true);
  const place = streams.admit({ client: 'b', catchesUp: false });
  t.throws(() => client(streams, 'c', 1, true), /overloaded/);
  place.release();
  first!.stream.closed();
  t.equal(streams.count(), 4);
  client(streams, 'a', 1, true);
  await streams.stop();
  t.equal(streams.count(), 0);
  t.match(first!.end, undefined, 'its connection is gone');
  t.throws(() => client(streams, 'a', 1, true), /overloaded/);
});

t.test('a client that takes nothing is ended, and its place comes back', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock);
  const slow = client(streams, 'a', 100, false);
  const good = client(streams, 'b', 100, true);
  await settled();
  t.equal(slow.texts.length, 1, 'nothing more is written');
  for (let i = 0; i < 7; i++) {
    await clock.advance(1000);
    await settled();
  }
  t.match(slow.end, /"reason":"slow"/);
  t.equal(good.end, undefined);
  t.ok(good.texts.length > 2, 'it hears that the stream is open');
  t.equal(streams.count(), 1);
  await streams.stop();
  t.match(good.end, /"reason":"stopping"/);
});

t.test('a hundred that never read cost nothing after ten seconds', async (t) => {
  const clock = fakeClock(0);
  const ended: string[] = [];
  let turns = 0;
  const streams = new Streams<true>(
    { readersMax: 200, readersOfClientMax: 200 },
    {
      clock,
      async begin() {
        turns++;
        return true;
      },
      pollMs: () => 4000,
      failed(cause) {
        throw cause;
      },
      ended: (reason) => ended.push(reason),
    },
  );
  const idle = Array.from({ length: 100 }, () => client(streams, 'a', 1000, false));
  for (let i = 0; i < 10; i++) {
    streams.ring();
    await settled();
    await clock.advance(1000);
  }
  await settled();
  t.equal(streams.count(), 0);
  t.ok(idle.every(({ texts, end }) => texts.length === 1 && end !== undefined));
  t.strictSame(ended, new Array(100).fill('slow'), 'and it is told');
  const before = turns;
  for (let i = 0; i < 10; i++) {
    streams.ring();
    await clock.advance(1000);
    await settled();
  }
  t.equal(turns, before, 'nobody asks any more');
  await streams.stop();
});

t.test('what a thousand cost beside their texts', async (t) => {
  const clock = fakeClock(0);
  const calls = { after: 0, monotonic: 0 };
  const counting: FakeClock = {
    ...clock,
    after(...timer) {
      calls.after++;
      return clock.after(...timer);
    },
    monotonic() {
      calls.monotonic++;
      return clock.monotonic();
    },
  };
  const readers = 1000;
  const streams = opened(counting, { readersMax: readers, readersOfClientMax: readers });
  for (let i = 0; i < readers; i++) client(streams, 'a', 1, true);
  t.ok(calls.monotonic < 3 * readers, 'one that begins looks at no other one');
  await settled();
  calls.after = 0;
  streams.ring();
  await settled();
  t.ok(calls.after < 5, 'their turns have a timer together');
  await streams.stop();
  t.equal(clock.timers(), 0);
});

t.test('what waits for all clients is limited: the slowest end after a second', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock, { readersMax: 100, readersOfClientMax: 100 });
  const clients: Client[] = [];
  for (let i = 0; i < 20; i++) {
    clients.push(client(streams, 'a', MIB, false));
    await settled();
    await clock.advance(1);
  }
  const told = (): readonly boolean[] => clients.map(({ texts }) => texts.length > 0);
  t.strictSame(
    told(),
    clients.map((_, i) => i < 16),
    'no more than fits',
  );
  t.equal(streams.count(), 20, 'nobody has had a second');
  await clock.advance(1500);
  await settled();
  t.ok(told().every(Boolean));
  t.strictSame(
    clients.map(({ end }) => end !== undefined),
    clients.map((_, i) => i < 4),
    'those that have waited longest make room',
  );
  t.match(clients[0]!.end, /"reason":"slow"/);
  await streams.stop();
});

t.test('clients of another thread that take everything are not ended', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock, { readersMax: 200, readersOfClientMax: 200 });
  const written = new Map<number, number>();
  const ended: number[] = [];
  const passed = new PassedStreams(({ id, isLast }) => {
    if (isLast) ended.push(id);
    else written.set(id, (written.get(id) ?? 0) + 1);
    setImmediate(() => passed.taken(id));
  });
  for (let id = 0; id < 100; id++) {
    const once = (send: (text: string) => void): StreamReader<true> => ({
      advance: async () => {
        if (!written.has(id)) send('x'.repeat(MIB / 4));
        return 'waits';
      },
      beat() {},
    });
    passed.begin(id, streams.admit({ client: 'a', catchesUp: false }).stream(once));
  }
  for (let i = 0; i < 10; i++) await settled();
  t.strictSame(ended, []);
  t.strictSame([...written.values()], Array(100).fill(1), 'each has its text, once');
  await streams.stop();
});

t.test('a pause puts nobody behind who has waited for it', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock, { readersMax: 200, readersOfClientMax: 200 });
  const texts = new Map<number, number>();
  const passed = new PassedStreams(({ id }) => {
    texts.set(id, (texts.get(id) ?? 0) + 1);
    setImmediate(() => passed.taken(id));
  });
  for (let id = 0; id < 40; id++) {
    const endless = (send: (text: string) => void): StreamReader<true> => ({
      advance: async () => {
        send('x'.repeat(MIB));
        return 'waits';
      },
      beat() {},
    });
    passed.begin(id, streams.admit({ client: 'a', catchesUp: false }).stream(endless));
  }
  for (let i = 0; i < 10; i++) await settled();
  const counts = [...texts.values()];
  t.equal(counts.length, 40, 'everybody has got something');
  t.ok(Math.max(...counts) <= 2 * Math.min(...counts), String(counts));
  await streams.stop();
});

t.test('a reader that always has more lets everything else run', async (t) => {
  const clock = { ...fakeClock(0), turn: () => new Promise<void>(setImmediate) };
  const streams = opened(clock);
  let turns = 0;
  // It would end by itself, so that this test does.
  const endless: StreamReader<true> = {
    advance: async () => (++turns < 5000 ? 'more' : 'waits'),
    beat() {},
  };
  const { stream } = streams.admit({ client: 'a', catchesUp: true });
  stream(() => endless).begin({ write: () => true, end() {} });
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
  t.ok(turns > 1 && turns < 100, `${turns} turns`);
  await streams.stop();
});

/** A client is left whose reader must have room for a text. */
async function roomLeft(streams: Streams<true>): Promise<boolean> {
  const last = client(streams, 'z', 1, true);
  await settled();
  return last.texts.length > 0;
}

t.test('what is written for clients that have gone does not wait', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock, { readersMax: 100, readersOfClientMax: 100 });
  const written: string[] = [];
  for (let i = 0; i < 20; i++) {
    const turn = Promise.withResolvers<void>();
    const { stream } = streams.admit({ client: 'a', catchesUp: false });
    const gone = stream((send) => ({
      async advance() {
        await turn.promise;
        send('x'.repeat(MIB));
        return 'waits';
      },
      beat() {},
    }));
    gone.begin({
      write: (text) => void written.push(String(text)) === undefined && false,
      end() {},
    });
    await settled();
    gone.closed();
    turn.resolve();
    await settled();
  }
  t.strictSame(written, []);
  t.ok(await roomLeft(streams));
  await streams.stop();
});

t.test('all that a client has taken counts as taken', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock, { readersMax: 100, readersOfClientMax: 100 });
  for (let i = 0; i < 20; i++) {
    const { stream } = streams.admit({ client: 'a', catchesUp: false });
    let isToldOf = false;
    const twice = stream((send) => ({
      async advance() {
        if (!isToldOf) for (let text = 0; text < 2; text++) send('x'.repeat(MIB));
        isToldOf = true;
        return 'waits';
      },
      beat() {},
    }));
    twice.begin({ write: () => false, end() {} });
    await settled();
    twice.ready();
  }
  t.ok(await roomLeft(streams));
  await streams.stop();
});
