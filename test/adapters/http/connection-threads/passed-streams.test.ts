// Answers that go on between two threads: what waits, what comes early, and every end.
import type { MessagePort } from 'node:worker_threads';
import t from 'tap';
import { Outbox } from '../../../../src/adapters/http/connection-threads/outbox.ts';
import { PassedStreams } from '../../../../src/adapters/http/connection-threads/passed-streams.ts';
import type {
  Batch,
  Written,
} from '../../../../src/adapters/http/connection-threads/thread-messages.ts';
import type { HttpStreamClient } from '../../../../src/base/ports/http.ts';

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const reply = (id: number) =>
  ({ id, status: 200, type: 'text/event-stream', body: '', headers: [], filler: ':\n' }) as const;
const call = {
  requestId: 'r',
  route: 0,
  path: '/',
  query: '',
  params: [],
  headers: [],
  address: '',
  body: undefined,
};

function connectionThread() {
  const batches: Batch[] = [];
  const outbox = new Outbox({
    postMessage: (batch: Batch) => void batches.push(batch),
  } as unknown as MessagePort);
  const texts: string[] = [];
  const client = {
    takes: true,
    write(text: string) {
      texts.push(text);
      return client.takes;
    },
    end: (text: string) => void texts.push(`end ${text}`),
  };
  const told = (what: 'taken' | 'gone') => batches.flatMap((batch) => batch[what]);
  return { outbox, texts, client, told };
}

t.test('a text that comes before its answer has begun waits for it', async (t) => {
  const { outbox, texts, client, told } = connectionThread();
  const answer = outbox.call(call);
  outbox.write([{ id: 1, text: 'first', isLast: false }]);
  outbox.settle([], [reply(1)]);
  const { stream } = await answer;
  t.strictSame(texts, []);
  stream!.begin(client);
  await settled();
  t.strictSame(texts, ['first']);
  t.strictSame(told('taken'), [1]);
  client.takes = false;
  outbox.write([{ id: 1, text: 'second', isLast: false }]);
  await settled();
  t.strictSame(told('taken'), [1], 'it waits for the client');
  stream!.ready();
  outbox.write([{ id: 1, text: 'bye', isLast: true }]);
  outbox.write([{ id: 1, text: 'nobody', isLast: false }]);
  await settled();
  t.strictSame(told('taken'), [1, 1]);
  t.strictSame(texts, ['first', 'second', 'end bye']);
});

t.test('a connection that is gone, before and after its answer has begun', async (t) => {
  const { outbox, texts, client, told } = connectionThread();
  const answers = [outbox.call(call), outbox.call(call)];
  outbox.settle([], [reply(1), reply(2)]);
  const [first, second] = await Promise.all(answers);
  first!.stream!.closed();
  second!.stream!.begin(client);
  second!.stream!.closed();
  outbox.write([{ id: 2, text: 'late', isLast: false }]);
  await settled();
  t.strictSame(told('gone'), [1, 2]);
  t.strictSame(texts, []);
});

t.test('the main thread writes again when the other has told that the text was taken', (t) => {
  const sent: Written[] = [];
  const streams = new PassedStreams((text) => sent.push(text));
  const seen = { ready: 0, closed: 0 };
  const clients: HttpStreamClient[] = [];
  const stream = {
    filler: '',
    begin: (client: HttpStreamClient) => void clients.push(client),
    ready: () => void seen.ready++,
    closed: () => void seen.closed++,
  };
  for (const id of [1, 2, 3]) streams.begin(id, stream);
  const [one, two] = clients;
  t.equal(one!.write('a'), false);
  streams.taken(1);
  t.equal(seen.ready, 1);
  one!.end('b');
  one!.write('c');
  streams.gone(1);
  t.equal(seen.closed, 0, 'it has ended by itself');
  streams.gone(2);
  two!.write('d');
  streams.close();
  t.equal(seen.closed, 2);
  t.strictSame(
    sent.map(({ id, text, isLast }) => [id, text, isLast]),
    [
      [1, 'a', false],
      [1, 'b', true],
    ],
  );
  t.end();
});

t.test('bytes whose memory is used again before they are passed on', async (t) => {
  const sent: Written[] = [];
  const streams = new PassedStreams((text) => sent.push(text));
  const begun = Promise.withResolvers<HttpStreamClient>();
  streams.begin(1, { filler: '', begin: begun.resolve, ready() {}, closed() {} });
  const memory = Buffer.from('another event one more');
  (await begun.promise).write(memory.subarray(8, 13));
  memory.fill('x');
  const [{ text }] = sent as [Written];
  t.equal(Buffer.from(text).toString(), 'event');
  t.equal((text as Uint8Array).buffer.byteLength, 5, 'nothing else goes along');
});
