// The HTTP port on several threads: what the threads do themselves, what they pass on, their limits
// together, and their ends.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { threadedHttp } from '../../../../src/adapters/http/connection-threads/threaded.ts';
import { native } from '../../../../src/adapters/http/listener.ts';
import {
  type HttpReply,
  type HttpRoute,
  type HttpServerOptions,
  TlsFileError,
} from '../../../../src/base/ports/http.ts';
import { ask, eventually, exchange, isComplete } from '../raw-socket.ts';

const skip = native === undefined && 'without the addon of uWebSockets.js there are no threads';

const workerUrl = new URL('threaded-worker.ts', import.meta.url);
const ok = (value: unknown): HttpReply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value) ?? '',
});
const LONG = Buffer.alloc(3 * 1024 * 1024, 'x');

function routesFor(seen: unknown[]): HttpRoute[] {
  const size: HttpRoute['handle'] = async (_request, body) => ok({ size: body?.length ?? 0 });
  const post = (pattern: string, more: Partial<HttpRoute>): HttpRoute => ({
    method: 'POST',
    pattern,
    maxBody: 1000,
    keep: ['x-kept'],
    mayWait: true,
    handle: size,
    ...more,
  });
  const get = (pattern: string, handle: HttpRoute['handle']): HttpRoute => ({
    method: 'GET',
    pattern,
    maxBody: 0,
    keep: ['x-kept'],
    handle,
  });
  return [
    get('/key/:a/:key', (of) =>
      ok([of.method, of.path, of.param(0), of.param(1), of.query, of.header('x-kept')]),
    ),
    get('/long', () => ({
      status: 200,
      type: 'text/plain',
      body: LONG,
      sent: () => void seen.push('given back'),
    })),
    get('/headers', () => ({ ...ok(1), status: 503, headers: [['retry-after', '1']] })),
    get('/id', (request) => ok(request.id)),
    post('/size', {}),
    post('/large', { maxBody: 28 * 1024 * 1024 }),
    post('/slow', {
      handle() {
        seen.push('slow');
        return sleep(300).then(() => ok('late'));
      },
    }),
    post('/judged', { admit: () => ({ ...ok(0), status: 500 }), access: 'pass' }),
    post('/half', {
      keep: ['accept'],
      handle: async (_request, body) => ok(['whole', Buffer.from(body ?? []).toString()]),
      answered: (status) => void seen.push(status),
      offload: {
        work: 'half',
        unlessAccepts: 'undivided',
        async finish(message, requestId) {
          const asked = Buffer.from(message).toString();
          if (asked === 'id') return ok(requestId);
          return asked === 'other' ? { ...ok('another answer'), status: 409 } : undefined;
        },
      },
    }),
  ];
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACED = `\ntraceparent: 00-${TRACE}-00f067aa0ba902b7-01`;

async function listen(t: Test, options: Partial<HttpServerOptions> = {}, threads = 2) {
  const seen: unknown[] = [];
  const deaths: unknown[] = [];
  const http = threadedHttp({ threads, workerUrl, onDeath: (cause) => void deaths.push(cause) });
  const server = await http.listen(routesFor(seen), {
    host: '127.0.0.1',
    port: 0,
    cors: true,
    ...options,
  });
  t.teardown(() => server.close());
  return { server, port: server.port, seen, deaths };
}

const posted = (
  path: string,
  body: string | Uint8Array,
  more = '',
): [string, string | Uint8Array] => [
  `POST ${path} HTTP/1.1\nHost: h${more}\nContent-Length: ${body.length}`,
  body,
];

const raw = (path: string, body: string): string[] => [
  `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
];

t.test('requests that are passed on', { skip }, async (t) => {
  const { port, seen, deaths } = await listen(t);
  for (let i = 0; i < 4; i++) {
    const key = await ask(port, 'GET /key/%D1%84/a%2Fb%20c%25?x=%2F HTTP/1.1\nHost: h\nX-Kept: k');
    const [method, path, ...others] = JSON.parse(Buffer.from(key.body, 'latin1').toString());
    t.strictSame([method, path], ['GET', '/key/%D1%84/a%2Fb%20c%25']);
    t.strictSame(others, ['ф', 'a/b c%', 'x=%2F', 'k']);
  }
  const headers = await ask(port, 'GET /headers HTTP/1.1\nHost: h');
  t.equal(headers.status, 503);
  t.match(headers.head, /retry-after: 1/);
  t.equal((await ask(port, 'GET /nope HTTP/1.1\nHost: h')).status, 404);
  const traced = await ask(port, `GET /id HTTP/1.1\nHost: h${TRACED}`);
  t.match([traced.body, traced.head], [JSON.stringify(TRACE), `x-request-id: ${TRACE}`]);
  t.match((await ask(port, ...posted('/size', 'hello'))).body, '{"size":5}');
  t.match((await ask(port, 'POST /size HTTP/1.1\nHost: h')).body, '{"size":0}');
  t.match((await ask(port, ...posted('/size', Buffer.alloc(1001)))).body, '"error":611');
  const whole = (text: string) => text.length > LONG.length;
  const { text } = await exchange(port, ['GET /long HTTP/1.1\r\nHost: h\r\n\r\n'], whole, 10_000);
  t.equal(text.length - text.indexOf('\r\n\r\n') - 4, LONG.length);
  t.strictSame(seen, ['given back']);
  t.strictSame(deaths, []);
});

t.test('large bodies are passed on whole, again and again', { skip }, async (t) => {
  const { port } = await listen(t, {}, 1);
  const dispatcher = new Agent({ connections: 1 });
  t.teardown(() => dispatcher.close());
  for (const length of [27, 1, 12, 27, 27].map((mib) => mib * 1024 * 1024)) {
    const answer = await request(`http://127.0.0.1:${port}/large`, {
      method: 'POST',
      body: Buffer.alloc(length, 65),
      dispatcher,
    });
    t.strictSame(await answer.body.json(), { size: length });
  }
});

t.test('the rules of access are applied before the body', { skip }, async (t) => {
  const { port } = await listen(t);
  const head = 'POST /judged HTTP/1.1\nHost: h\nContent-Length: 900';
  t.equal((await ask(port, head)).status, 403, 'without a byte of the body');
  t.equal((await ask(port, `${head}\nPass: yes`, Buffer.alloc(900))).status, 200);
});

t.test('a route of which a thread does a part', { skip }, async (t) => {
  const { port, seen } = await listen(t);
  const half = (body: string) => ask(port, ...posted('/half', body));
  t.match((await half('mine')).body, 'own answer to mine');
  const other = await half('other');
  t.strictSame([other.status, other.body], [409, '"another answer"']);
  t.strictSame((await half('pass on')).body, '["whole","pass on"]');
  t.strictSame((await half('')).body, '["whole",""]');
  t.equal((await ask(port, ...posted('/half', 'id', TRACED))).body, JSON.stringify(TRACE));
  const undivided = await ask(port, ...posted('/half', 'mine', '\nAccept: text/undivided'));
  t.equal(undivided.body, '["whole","mine"]');
  const refused = await half('refuse');
  t.strictSame([refused.status, refused.body], [400, 'refused by the thread']);
  t.ok(await eventually(async () => seen.length === 1));
  t.strictSame(seen, [400], 'the main thread counts it');
  const many = await Promise.all(Array.from({ length: 100 }, (_, i) => half(`n${i}`)));
  t.strictSame(
    many.map(({ body }) => body),
    many.map((_, i) => `own answer to n${i}`),
  );
});

t.test('what is too much is refused while threads work', { skip }, async (t) => {
  const { port } = await listen(t, { maxInFlight: 2 }, 1);
  const file = join(t.testdir(), 'enough');
  const order: string[] = [];
  const busy = Array.from({ length: 2 }, () =>
    exchange(port, raw('/half', `be busy until ${file}`), isComplete, 20_000).then(() =>
      order.push('worked'),
    ),
  );
  const isRefused = async (): Promise<boolean> =>
    (await ask(port, ...posted('/half', 'more'))).status === 503;
  t.ok(await eventually(isRefused));
  order.push('refused');
  writeFileSync(file, '');
  await Promise.all(busy);
  t.strictSame(order, ['refused', 'worked', 'worked']);
});

t.test('what is too much is refused while the main thread works', { skip }, async (t) => {
  const file = join(t.testdir(), 'enough');
  const child = fork(fileURLToPath(new URL('threaded-busy.ts', import.meta.url)), [file], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  t.teardown(() => void child.kill());
  const [port] = (await once(child, 'message')) as [number];
  // Only the main thread accepts connections.
  const socket = open(t, port, 'GET /nope HTTP/1.1\r\nHost: h\r\n\r\n');
  await once(socket, 'data');
  const isBusy = once(child, 'message');
  const busy = exchange(port, raw('/busy', 'a'), isComplete, 20_000);
  await isBusy;
  for (const piece of raw('/busy', 'a')) socket.write(piece);
  const [answer] = await once(socket, 'data');
  writeFileSync(file, '');
  t.match(String(answer), /^HTTP\/1\.1 503[\s\S]*retry-after: 1/);
  t.match((await busy).text, /^HTTP\/1\.1 200/);
});

t.test('the delay of timers of each thread', { skip }, async (t) => {
  const { server, port } = await listen(t, { measured: true });
  t.equal(server.delays?.().length, 2);
  const isLate = (): boolean => server.delays?.().some(({ max }) => max > 0.4) ?? false;
  // The first timer of a thread only begins the measurement.
  const busy = async (): Promise<boolean> => {
    await ask(port, ...posted('/half', 'hold all'));
    await sleep(50);
    return isLate();
  };
  t.ok(await eventually(busy), 'shows the one that was busy');
  t.ok(isLate(), 'and a reading takes nothing away');
  t.equal((await listen(t)).server.delays, undefined, 'nothing is measured unless it is wanted');
});

/** An open connection that sends this and is closed with the test. */
function open(t: Test, port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  return socket;
}

t.test('all threads together keep the limits', { skip }, async (t) => {
  const bytes = 600;
  const { port } = await listen(t, { maxBodyBytes: 1000, maxInFlight: 4 });
  const unfinished = `POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n${'a'.repeat(bytes)}`;
  open(t, port, unfinished);
  const post = () => ask(port, ...posted('/size', Buffer.alloc(bytes)));
  // Were a post there before it, the unfinished one would be refused instead.
  await sleep(100);
  const answers = await Promise.all(Array.from({ length: 4 }, post));
  t.strictSame(
    answers.map(({ status }) => status),
    [503, 503, 503, 503],
    'whichever thread counts its bytes',
  );
  const slow = await Promise.all(
    Array.from({ length: 12 }, () => ask(port, ...posted('/slow', 'a'))),
  );
  const served = slow.filter(({ status }) => status === 200).length;
  t.ok(served >= 1 && served <= 4, `${served} of 12 were served at a time`);
});

t.test('connections are counted', { skip }, async (t) => {
  const { port } = await listen(t, { maxConnections: 4 });
  const closed: Socket[] = [];
  const sockets = Array.from({ length: 8 }, () => open(t, port, ''));
  for (const socket of sockets) socket.once('close', () => closed.push(socket));
  t.ok(await eventually(async () => closed.length === 4));
});

t.test('the end gives pending answers time', { skip }, async (t) => {
  const { server, port, seen, deaths } = await listen(t);
  const late = ask(port, ...posted('/slow', 'a'));
  t.ok(await eventually(async () => seen.length > 0));
  await Promise.all([server.close(), server.close()]);
  t.equal((await late).body, '"late"');
  t.equal((await ask(port, 'GET /headers HTTP/1.1\nHost: h')).status, 0, 'nobody listens');
  const again = await listen(t, { port });
  t.equal(again.port, port, 'the port is free');
  t.strictSame(deaths, []);
});

t.test('an unexpected error in a thread is reported', { skip }, async (t) => {
  const { server, port, deaths } = await listen(t);
  await ask(port, ...posted('/half', 'die'));
  t.ok(await eventually(async () => deaths.length > 0));
  t.match(String(deaths[0]), /unexpected/);
  t.equal((await ask(port, 'GET /headers HTTP/1.1\nHost: h')).status, 0, 'nobody listens');
  await server.close();
  t.equal(deaths.length, 1);
});

t.test('so is the end of a thread that does a part', { skip }, async (t) => {
  const { port, deaths } = await listen(t);
  void ask(port, ...posted('/half', 'die ahead'));
  t.ok(await eventually(async () => deaths.length > 0));
  t.match(String(deaths[0]), /unexpected/);
  t.equal(deaths.length, 1);
});

t.test('a process that ends at once, with open connections', { skip }, async (t) => {
  const child = fork(fileURLToPath(new URL('threaded-exit.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const [port] = await once(child, 'message');
  open(t, port, 'GET /headers HTTP/1.1\r\nHost: h\r\n\r\n');
  open(t, port, 'POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\na');
  await sleep(200);
  child.send('exit');
  const [code, signal] = await once(child, 'exit');
  t.strictSame([code, signal], [7, null], String(child.stderr?.read() ?? ''));
});

t.test('a port that is taken, and a thread that does not start', { skip }, async (t) => {
  const { port } = await listen(t);
  const http = threadedHttp({ threads: 1, workerUrl, onDeath: () => t.fail('it never lived') });
  const options = { host: '127.0.0.1', port, cors: false };
  await t.rejects(http.listen(routesFor([]), options), { message: /cannot listen/ });
  const broken = threadedHttp({
    threads: 2,
    workerUrl: new URL('no-such-module.ts', import.meta.url),
    onDeath: () => t.fail('it never lived'),
  });
  await t.rejects(broken.listen(routesFor([]), { ...options, port: 0 }), {
    message: /no-such-module/,
  });
});

const file = (name: string) => fileURLToPath(new URL(`../tls/${name}`, import.meta.url));
const tls = { cert: file('test-only-cert.pem'), key: file('test-only-key.pem') };

t.test('a thread that cannot be created', { skip }, async (t) => {
  const http = threadedHttp({
    threads: 2,
    workerUrl: new URL('https://nowhere.invalid/worker.js'),
    onDeath: () => {},
  });
  await t.rejects(http.listen(routesFor([]), { host: '127.0.0.1', port: 0 } as HttpServerOptions));
});

t.test('TLS, also after the certificate was read again', { skip }, async (t) => {
  const { server, port } = await listen(t, { tls });
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 });
  t.teardown(() => dispatcher.close());
  const status = async (): Promise<number> => {
    const answer = await request(`https://127.0.0.1:${port}/half`, {
      method: 'POST',
      body: 'mine',
      dispatcher,
    });
    await answer.body.text();
    return answer.statusCode;
  };
  t.strictSame(await Promise.all([status(), status(), status()]), [200, 200, 200]);
  await server.reload();
  t.strictSame(await Promise.all([status(), status(), status()]), [200, 200, 200]);
  const unusable = listen(t, { tls: { ...tls, key: file('no-such-file') } });
  await t.rejects(unusable, { name: TlsFileError.name });
});
