// A client goes on at a node that is behind the one that it had before.
import t from 'tap';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { type EventRequest, EventStreams } from '../../src/events/event-streams.ts';
import { endOf, type NamedPlace, placeText, readPlace } from '../../src/events/place.ts';
import { mine, newChain, type TestChain } from '../chain/chain-harness.ts';
import { fakeClock } from '../node/fake-clock.ts';

const placeAt = ({ blockchain }: TestChain, height: number): NamedPlace =>
  readPlace(placeText(endOf(blockchain.view, height, 0)!))!;

/** A chain of five blocks; a node that has the first three of them, and the blocks that follow. */
async function nodeBehind() {
  const ahead = await newChain();
  const behind = await newChain();
  for (let height = 2; height <= 3; height++) {
    const block = await mine(ahead);
    behind.clock.time = ahead.clock.time;
    await behind.blockchain.append(block);
  }
  const following = [await mine(ahead), await mine(ahead)];
  const clock = fakeClock(0);
  const streams = new EventStreams(
    { readersMax: 10, readersOfClientMax: 10 },
    {
      feed: new ChainFeed({ chain: behind.blockchain, clock }),
      clock,
      headerText: (height) => JSON.stringify({ height }),
    },
  );
  t.teardown(() => streams.stop());
  /** What a client hears that goes on at this place. */
  const heard = (from: NamedPlace, other: Partial<EventRequest> = {}) => {
    const filter = { kinds: new Set(['block'] as const) };
    const base = { filter, filterText: '', client: '', follows: true };
    const { first, stream } = streams.open({ ...base, from, ...other });
    const texts = [first];
    const write = (text: string | Uint8Array): boolean => {
      texts.push(Buffer.from(text).toString());
      return true;
    };
    stream.begin({ write, end: (text) => texts.push(String(text)) });
    const names = (): string[] =>
      texts
        .join('')
        .split('\n\n')
        .flatMap((event) => {
          const [, name] = /^event: (\w+)$/m.exec(event) ?? [];
          const [, data] = /"(?:height|reason)":"?(\w+)/.exec(event) ?? [];
          return name === undefined ? [] : [`${name} ${data}`];
        });
    const ids = () => [...texts.join('').matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
    return { texts, names, ids, stream };
  };
  const advance = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  };
  const append = async (): Promise<void> => {
    behind.clock.time = ahead.clock.time;
    await behind.blockchain.append(following.shift()!);
    await advance(1);
  };
  return { ahead, behind, streams, heard, advance, append };
}

t.test('the stream waits for the block, and goes on behind it', async (t) => {
  const { ahead, heard, advance, append } = await nodeBehind();
  const place = placeAt(ahead, 4);
  const client = heard(place);
  await advance(15_000);
  t.strictSame(client.names(), []);
  t.strictSame(client.ids(), [], 'its place stays the one that it named');
  t.ok(client.texts.filter((text) => text === ':\n').length >= 3, 'it hears that it is open');
  await append();
  await advance(20_000);
  t.strictSame(client.names(), []);
  t.match(client.ids()[0], /^4\.b\./);
  await append();
  t.strictSame(client.names(), ['block 5']);
});

t.test('a block that another one has replaced', async (t) => {
  const { ahead, heard, advance, append } = await nodeBehind();
  const { marks } = placeAt(ahead, 4);
  const client = heard({ ...placeAt(ahead, 4), marks: `${'A'.repeat(16)}${marks.slice(16)}` });
  await advance(5000);
  t.strictSame(client.names(), []);
  await append();
  await append();
  t.strictSame(client.names(), ['rollback 3', 'block 4', 'block 5']);
});

t.test('a chain that does not become as long', async (t) => {
  const { ahead, heard, advance, append } = await nodeBehind();
  const client = heard(placeAt(ahead, 5));
  const lost = heard({ height: 0xffff_ffff, step: 0, arrival: 0, marks: 'A'.repeat(16) });
  await advance(29_000);
  t.strictSame(client.names(), []);
  t.strictSame(lost.names(), []);
  await advance(6000);
  t.strictSame(client.names(), ['rollback 1', 'block 2', 'block 3']);
  t.strictSame(lost.names(), ['end place']);
  await append();
  t.strictSame(client.names().slice(3), ['block 4']);
});

t.test('a stream that ends where nothing has happened waits for nothing', async (t) => {
  const { ahead, heard, advance } = await nodeBehind();
  const client = heard(placeAt(ahead, 4), { follows: false });
  await advance(1);
  t.strictSame(client.names(), ['rollback 3', 'end end']);
});

t.test('a client, a key or a node that is gone meanwhile', async (t) => {
  const { ahead, streams, heard, advance, append } = await nodeBehind();
  const place = placeAt(ahead, 4);
  let mayListen = true;
  const gone = heard(place);
  const barred = heard(place, { mayListen: () => mayListen });
  const left = heard(place);
  await advance(5000);
  t.equal(streams.count(), 3);
  gone.stream.closed();
  mayListen = false;
  await advance(5000);
  t.strictSame(barred.names(), ['end key']);
  t.equal(streams.count(), 1);
  await streams.stop();
  t.strictSame(left.names(), ['end stopping']);
  t.equal(streams.count(), 0);
  await append();
  t.strictSame(gone.names(), []);
});
