// Streams of events: their limits, clients that take nothing, and readers that take long.
import t from 'tap';
import type { HttpStream } from '../../src/base/http.ts';
import { createStreams, type StreamReader, type Streams } from '../../src/events/streams.ts';
import { type FakeClock, fakeClock } from '../node/fake-clock.ts';

const MIB = 1024 * 1024;
const options = { readersMax: 6, readersOfClientMax: 4 };

function opened(clock: FakeClock, limits = options): Streams<true> {
  return createStreams<true>(limits, {
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
      texts.push(text);
      return made.takes;
    },
    end(text) {
      made.end = text;
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

t.test('what waits for all clients is limited: the slowest are ended', async (t) => {
  const clock = fakeClock(0);
  const streams = opened(clock, { readersMax: 100, readersOfClientMax: 100 });
  const clients: Client[] = [];
  for (let i = 0; i < 40; i++) {
    clients.push(client(streams, 'a', MIB, false));
    await settled();
    await clock.advance(1);
  }
  t.equal(streams.count(), 16);
  t.strictSame(
    clients.map(({ end }) => end !== undefined),
    clients.map((_, i) => i < 24),
    'those that have waited longest',
  );
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
