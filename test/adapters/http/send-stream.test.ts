// Answers that go on: pieces as they come, clients that take nothing, and both ways to end.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { HttpStreamClient } from '../../../src/base/ports/http.ts';
import { http } from '../../http-listener.ts';
import { eventually, exchange } from './raw-socket.ts';

const REQUEST = 'GET /stream HTTP/1.1\r\nHost: h\r\n\r\n';
const MIB = 1024 * 1024;

async function listen(t: Test) {
  const seen = { client: undefined as HttpStreamClient | undefined, ready: 0, closed: 0 };
  const server = await http.listen(
    [
      {
        method: 'GET',
        pattern: '/stream',
        maxBody: 0,
        keep: [],
        handle: () => ({
          status: 200,
          type: 'text/event-stream',
          body: 'retry: 1\n\n',
          stream: {
            filler: ':\n',
            begin: (client) => {
              seen.client = client;
            },
            ready: () => void seen.ready++,
            closed: () => void seen.closed++,
          },
        }),
      },
    ],
    { host: '127.0.0.1', port: 0, cors: false },
  );
  t.teardown(() => server.close());
  return { port: server.port, seen };
}

/** A client that reads only when it is told to. */
async function reader(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(REQUEST);
  t.teardown(() => socket.destroy());
  return socket;
}

t.test('pieces arrive as they are written, until the end', async (t) => {
  const { port, seen } = await listen(t);
  const all = exchange(port, [REQUEST], (text) => text.endsWith('\r\n0\r\n\r\n'), 5000);
  await eventually(async () => seen.client !== undefined);
  for (const text of ['data: 1\n\n', 'data: ф\n\n']) {
    t.ok(seen.client?.write(text));
    await sleep(20);
  }
  seen.client?.end('data: last\n\n');
  const { text, closed } = await all;
  t.notOk(closed, 'the connection may serve the next request');
  t.match(text, /content-type: text\/event-stream/);
  const body = Buffer.from(text, 'latin1').toString();
  t.match(body, /retry: 1\n\n[\s\S]*data: 1\n\n[\s\S]*data: ф\n\n[\s\S]*data: last\n\n/);
  t.equal(seen.closed, 0);
  seen.client?.write('nothing is written after the end');
});

t.test('bytes whose memory is used again while they wait for the client', async (t) => {
  const { port, seen } = await listen(t);
  const socket = await reader(t, port);
  await eventually(async () => seen.client !== undefined);
  const bytes = Buffer.alloc(8 * MIB, 'a');
  t.notOk(seen.client?.write(bytes), 'they wait');
  bytes.fill('b');
  const taken = { a: 0, b: 0 };
  socket.on('data', (piece) => {
    for (const byte of piece) {
      if (byte === 0x61) taken.a++;
      else if (byte === 0x62) taken.b++;
    }
  });
  socket.resume();
  t.ok(await eventually(async () => taken.a >= bytes.length));
  t.ok(taken.b < 100, 'the head has some');
});

t.test('a client that leaves', async (t) => {
  const { port, seen } = await listen(t);
  const socket = await reader(t, port);
  await eventually(async () => seen.client !== undefined);
  socket.destroy();
  t.ok(await eventually(async () => seen.closed === 1));
  t.equal(seen.client?.write('too late'), false);
  seen.client?.end('too late');
});

t.test('a client that takes nothing for a while', async (t) => {
  const { port, seen } = await listen(t);
  const socket = await reader(t, port);
  await eventually(async () => seen.client !== undefined);
  const piece = 'x'.repeat(MIB);
  let written = 0;
  while (seen.client?.write(piece)) written++;
  t.ok(written < 64, `${written} MiB fill what is between the two`);
  await sleep(100);
  t.equal(seen.ready, 0);
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  t.ok(await eventually(async () => seen.ready === 1), 'told when it has taken all');
  await sleep(50);
  t.ok(bytes >= (written + 1) * MIB, `${bytes} bytes have arrived`);
  t.ok(seen.client?.write('more'));
});
