// The HTTP port: accepted requests, refused requests, and the ends of connections. The same holds of
// the server on Node's own listener (TEST_HTTP_LISTENER=node), and of the one on threads
// (TEST_HTTP_THREADS), whose limits are exact on one thread.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { threadedHttp } from '../../../src/adapters/http/connection-threads/threaded.ts';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import type {
  Http,
  HttpReply,
  HttpRoute,
  HttpServerOptions,
} from '../../../src/base/ports/http.ts';
import { isNodeListener, http as onOneThread } from '../../http-listener.ts';
import { httpThreads } from '../../http-threads.ts';
import { ask, completes, eventually, exchange, hasHead } from './raw-socket.ts';
import { rules } from './rules.ts';
import { refusesTwoLengths } from './two-lengths.ts';

const ok = (value: unknown): HttpReply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value) ?? '',
});

const get = (pattern: string, handle: HttpRoute['handle'], maxBody = 0): HttpRoute => ({
  method: 'GET',
  pattern,
  maxBody,
  keep: [],
  handle,
});

const post = (pattern: string, handle: HttpRoute['handle'], maxBody = 1000): HttpRoute => ({
  method: 'POST',
  pattern,
  maxBody,
  keep: ['x-kept'],
  handle,
});

const size: HttpRoute['handle'] = (_request, body) => ok({ size: body?.length ?? 0 });

let release: () => void = () => {};
let begun: () => void = () => {};
const slow: HttpRoute['handle'] = async () => {
  begun();
  await new Promise<void>((resolve) => {
    release = resolve;
  });
  return ok('late');
};

/** Resolves when the next request to /slow has arrived. */
const slowArrived = (): Promise<void> =>
  new Promise((resolve) => {
    begun = resolve;
  });

/** Takes more than one turn of the event loop has for requests. */
const heavy: HttpRoute['handle'] = () => {
  for (const end = performance.now() + 20; performance.now() < end; );
  return ok('done');
};

/** More than the kernel takes for a client that reads nothing. */
const LONG = Buffer.alloc(16 * 1024 * 1024, 'x');

const routes: readonly HttpRoute[] = [
  get('/key/:a/:key', (request) => ok([request.param(0), request.param(1), request.query])),
  { ...get('/who', () => ok('nobody asks')), admit: rules['who'], access: 'who' },
  get('/id', (request) => ok(request.id)),
  get('/body/:a', (_request, body) => ok(body && Buffer.from(body).toString()), 1000),
  get('/throws', () => {
    throw new Error('not meant to happen');
  }),
  get('/named/:type/:name/:value', (request) => ({
    ...ok('named'),
    type: request.param(0),
    headers: [[request.param(1), request.param(2)]],
  })),
  get('/rejects', () => Promise.reject(new Error('not meant to happen'))),
  { ...get('/slow', slow), mayWait: true },
  get('/long', () => ({ status: 200, type: 'text/plain', body: LONG })),
  post('/size', size),
  { ...post('/heavy', heavy), mayWait: true },
  post('/large', size, 28 * 1024 * 1024),
  post('/id', (request) => ok(request.id), 10),
  post('/kept/:a', (request, body) =>
    ok([request.param(0), request.header('x-kept'), request.header('x-other'), body?.length]),
  ),
  { ...post('/judged', size), admit: rules['pass'], access: 'pass' },
];

const http: Http =
  httpThreads === 0
    ? onOneThread
    : threadedHttp({
        threads: httpThreads,
        workerUrl: new URL('connection-threads/threaded-worker.ts', import.meta.url),
        onDeath: (cause) => t.fail(String(cause)),
      });

async function listen(t: Test, options: Partial<HttpServerOptions> = {}) {
  const server = await http.listen(routes, {
    host: '127.0.0.1',
    port: 0,
    cors: true,
    ...options,
  });
  t.teardown(() => server.close());
  return server;
}

t.test('requests', async (t) => {
  const { port } = await listen(t);
  const key = await ask(port, 'GET /key/%D1%84/a%2Fb%20c%25?x=%2F HTTP/1.1\nHost: h');
  t.strictSame(JSON.parse(Buffer.from(key.body, 'latin1').toString()), ['ф', 'a/b c%', 'x=%2F']);
  t.match((await ask(port, 'GET /key/%ZZ/1 HTTP/1.1\nHost: h')).body, '["%ZZ","1",""]');
  t.match((await ask(port, 'GET /who HTTP/1.1\nHost: h')).body, '["127.0.0.1",false]');
  const forwarded = 'GET /who HTTP/1.1\nHost: h\nX-Forwarded-Proto: https';
  t.match((await ask(port, forwarded)).body, '["127.0.0.1",true]');

  const kept = 'POST /kept/a%20b HTTP/1.1\nHost: h\nX-Kept: k\nX-Other: o\nContent-Length: 2';
  t.match((await ask(port, kept, '{}')).body, '["a b","k","",2]');
  t.match((await ask(port, 'POST /size HTTP/1.1\nHost: h')).body, '{"size":0}');
  const chunked = 'POST /size HTTP/1.1\nHost: h\nTransfer-Encoding: chunked';
  t.match((await ask(port, chunked, '5\r\nhello\r\n2\r\n!!\r\n0\r\n\r\n')).body, '{"size":7}');
  t.equal((await ask(port, 'GET /throws HTTP/1.1\nHost: h')).status, 500);
  t.equal((await ask(port, 'GET /rejects HTTP/1.1\nHost: h')).status, 500);
});

t.test('each request has an id, that of its trace where it names one', async (t) => {
  const { port } = await listen(t);
  const idOf = async (line: string, more = '', body?: string): Promise<string> => {
    const answer = await ask(port, `${line} HTTP/1.1\nHost: h${more}`, body);
    const [, id = ''] = /^x-request-id: (\S+)\r?$/im.exec(answer.head) ?? [];
    if (line.endsWith(' /id') && answer.body !== '') t.equal(JSON.parse(answer.body), id);
    return id;
  };
  const traced = (value: string): string => `\ntraceparent: ${value}`;
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = `00-${trace}-00f067aa0ba902b7-01`;
  const made = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const [one, other] = [await idOf('GET /id'), await idOf('GET /id')];
  const many = new Set<string>();
  for (let i = 0; i < 300; i++) many.add(await idOf('GET /id'));
  t.equal(many.size, 300, 'beyond a byte of them, all differ');
  t.match(one, made);
  t.not(one, other);
  t.equal(await idOf('GET /id', traced(parent)), trace);
  t.equal(await idOf('POST /id', `${traced(parent)}\nContent-Length: 2`, '{}'), trace);
  t.equal(await idOf('HEAD /id', traced(parent)), trace);
  t.equal(await idOf('GET /nope', traced(parent)), trace, 'also where there is no route');
  t.equal(await idOf('OPTIONS /id', traced(parent)), trace);
  t.match(await idOf('GET /rejects'), made);
  for (const wrong of [
    'x',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-00f067aa0ba902b7-01`,
    parent.toUpperCase(),
    `${parent}-`,
    `${parent}${'0'.repeat(500)}`,
    '<script>alert(1)</script>--------------------------------',
  ]) {
    t.match(await idOf('GET /id', traced(wrong)), made, wrong.slice(0, 60));
  }
});

t.test('a GET may have a body', async (t) => {
  const { port } = await listen(t);
  const head = 'GET /body/1 HTTP/1.1\nHost: h\nContent-Length: 7';
  t.strictSame((await ask(port, head, '{"a":1}')).body, '"{\\"a\\":1}"');
  t.equal((await ask(port, 'GET /body/1 HTTP/1.1\nHost: h')).body, '');
  t.test('and one that nobody reads does not disturb the next request', async (t) => {
    const first = 'GET /who HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n{"a":1}';
    const { text } = await exchange(port, [`${first}GET /who HTTP/1.1\r\nHost: h\r\n\r\n`], twice);
    t.equal(text.split('HTTP/1.1 200 OK').length, 3);
  });
});

const twice = (text: string): boolean => text.split('false]').length === 3;

t.test('no answer names the server', async (t) => {
  const { port } = await listen(t);
  for (const path of ['/echo/1/2', '/nothing']) {
    const { text } = await exchange(port, [`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`]);
    t.match(text, /^HTTP\/1\.1 \d/);
    t.notMatch(text, /^(server|x-powered-by|uwebsockets):/im, path);
  }
});

t.test('unknown paths and methods', async (t) => {
  const { port } = await listen(t);
  const notFound = '{"error":404,"message":"The requested resource could not be found"}';
  for (const line of ['GET /', 'GET /nope', 'POST /who', 'GET /size', 'PUT /size', 'DELETE /who']) {
    const answer = await ask(port, `${line} HTTP/1.1\nHost: h`);
    t.strictSame([line, answer.status, answer.body], [line, 404, notFound]);
  }
  for (const path of ['/nope', '/size']) {
    const { text } = await exchange(port, [head(path), get404], (text) => text.includes(notFound));
    const [first, second] = text.split('\r\n\r\n');
    t.match(first, /^HTTP\/1\.1 404 .*content-length: 67/is);
    t.match(second, /^HTTP\/1\.1 404 /, 'the connection goes on, without a body in between');
  }
});

const head = (path: string): string => `HEAD ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
const get404 = 'GET /nope HTTP/1.1\r\nHost: h\r\n\r\n';

t.test('HEAD is answered like GET, without the body', async (t) => {
  const { port } = await listen(t);
  const last = (text: string): boolean => text.includes('"error":404,');
  const headers = (text: string): string[] =>
    text
      .toLowerCase()
      .split('\r\n')
      .filter((line) => !/^(date|x-request-id):/.test(line))
      .sort();
  for (const path of ['/key/a/b?x=1', '/who', '/body/1', '/throws', '/rejects', '/long']) {
    const get = await exchange(port, [head(path).replace('HEAD', 'GET')], completes(), 10_000);
    const [expected = ''] = get.text.split('\r\n\r\n');
    // A thread answers later, and a connection ends where a request comes before that.
    const isAsOne = httpThreads === 0;
    const { text } = isAsOne
      ? await exchange(port, [head(path), get404], last)
      : await exchange(port, [head(path)], hasHead);
    const [first = '', second = ''] = text.split('\r\n\r\n');
    t.strictSame(headers(first), headers(expected), path);
    const next = isAsOne ? /^HTTP\/1\.1 404 / : /^$/;
    t.match(second, next, `${path}: no body, and the next request is answered`);
  }
  const arrived = slowArrived();
  const slow = exchange(port, [head('/slow')], hasHead, 10_000);
  await arrived;
  await sleep(0);
  release();
  t.match((await slow).text, /^HTTP\/1\.1 200 .*content-length: 6\r\n.*\r\n\r\n$/is);
});

t.test(
  'HEAD of an answer that goes on',
  { skip: httpThreads > 0 && 'no thread passes it on' },
  async (t) => {
    const events: string[] = [];
    const stream: HttpReply['stream'] = {
      filler: '\n',
      begin: () => void events.push('begun'),
      ready: () => void events.push('ready'),
      closed: () => void events.push('closed'),
    };
    const server = await onOneThread.listen(
      [get('/stream', () => ({ status: 200, type: 'text/event-stream', body: 'first', stream }))],
      { host: '127.0.0.1', port: 0, cors: false },
    );
    t.teardown(() => server.close());
    const { text } = await exchange(server.port, [head('/stream'), get404], (text) =>
      text.includes('"error":404,'),
    );
    const [first, second] = text.split('\r\n\r\n');
    t.match(first, /^HTTP\/1\.1 200 .*text\/event-stream/is);
    t.notMatch(first, /content-length/i);
    t.match(second, /^HTTP\/1\.1 404 /);
    t.strictSame(events, ['closed'], 'it never begins');
  },
);

t.test('a body of two lengths is refused', async (t) => {
  const { port } = await listen(t);
  const lines = ['POST /size', 'POST /judged', 'GET /who', 'GET /body/1', 'HEAD /who'];
  for (const line of [...lines, 'OPTIONS /size', 'PUT /size', 'GET /nope']) {
    await refusesTwoLengths(t, port, line);
  }
  await refusesTwoLengths(t, port, 'POST /size', ['X-Kept: between']);
  const same = 'POST /size HTTP/1.1\nHost: h\nContent-Length: 5\nContent-Length: 5';
  const { status, body } = await ask(port, same, 'hello');
  // Node's parser takes one length alone.
  if (isNodeListener) t.equal(status, 400);
  else t.match(body, '{"size":5}', 'the same twice is no contradiction');
});

t.test('other origins', async (t) => {
  const { port } = await listen(t);
  const plain = await ask(port, 'GET /who HTTP/1.1\nHost: h');
  t.match(plain.head, /access-control-allow-origin: \*/);
  const named = await ask(port, 'GET /nope HTTP/1.1\nHost: h\nOrigin: http://a.example');
  t.match(named.head, /access-control-allow-origin: http:\/\/a\.example/);
  t.match(named.head, /vary: Origin/);
  t.match(named.head, /access-control-allow-credentials: true/);
  const options = await ask(port, 'OPTIONS /any/path HTTP/1.1\nHost: h\nOrigin: http://a.example');
  t.equal(options.status, 200);
  t.match(options.head, /access-control-allow-headers: .*X-API-Key/);
  t.match(options.head, /access-control-allow-methods: OPTIONS, POST, PUT, GET, DELETE/);

  const closed = await listen(t, { cors: false });
  t.notMatch((await ask(closed.port, 'GET /who HTTP/1.1\nHost: h')).head, 'access-control');
  t.equal((await ask(closed.port, 'OPTIONS /who HTTP/1.1\nHost: h')).status, 404);
});

t.test('what ends a header is refused, and no answer is another type than it says', async (t) => {
  const { port } = await listen(t);
  const named = async (verb: string, ...parts: string[]) =>
    ask(port, `${verb} /named/${parts.map(encodeURIComponent).join('/')} HTTP/1.1\nHost: h`);
  const given = await named('GET', 'text/plain', 'x-name', 'one\ttwo');
  t.match(given.head, /content-type: text\/plain/);
  t.match(given.head, /x-name: one\ttwo/);
  t.match(given.head, /x-content-type-options: nosniff/);
  const injected = 'a\r\nx-injected: yes\r\n\r\n<script>';
  for (const verb of ['GET', 'HEAD']) {
    for (const end of [injected, 'a\nb', 'a\rb', 'a\0b', 'a\x7fb']) {
      for (const parts of [
        [end, 'x-name', 'value'],
        ['text/plain', end, 'value'],
        ['text/plain', 'x-name', end],
      ]) {
        const refused = await named(verb, ...parts);
        t.equal(refused.status, 500, JSON.stringify([verb, ...parts]));
        t.notMatch(refused.head + refused.body, /injected|x-name/);
      }
    }
  }
});

t.test('bodies over their limit', async (t) => {
  const { port } = await listen(t);
  const head = 'POST /size HTTP/1.1\nHost: h\nContent-Length: 1001';
  const answer = await ask(port, head, Buffer.alloc(1001));
  t.equal(answer.status, 400);
  t.strictSame(JSON.parse(answer.body), {
    error: 611,
    message: "HttpEntity too big, actual size '1001' bytes, max size '1000' bytes",
  });
  const chunked = 'POST /size HTTP/1.1\nHost: h\nTransfer-Encoding: chunked';
  const chunk = `7d0\r\n${'x'.repeat(2000)}\r\n0\r\n\r\n`;
  t.match((await ask(port, chunked, chunk)).body, '"error":611');
  const large = 27 * 1024 * 1024;
  const whole = `POST /large HTTP/1.1\nHost: h\nContent-Length: ${large}`;
  t.match((await ask(port, whole, Buffer.alloc(large, 65))).body, `{"size":${large}}`);
});

t.test('the judgement comes before the body', async (t) => {
  const { port } = await listen(t);
  const head = 'POST /judged HTTP/1.1\nHost: h\nContent-Length: 900';
  const refused = await ask(port, head);
  t.equal(refused.status, 403, 'without a byte of the body');
  t.equal((await ask(port, `${head}\nPass: yes`, Buffer.alloc(900))).status, 200);
});

t.test('overload', async (t) => {
  const { port } = await listen(t, { maxInFlight: 1, maxBodyBytes: 500 });
  const arrived = slowArrived();
  const waiting = ask(port, 'GET /slow HTTP/1.1\nHost: h');
  await arrived;
  const refused = await ask(port, 'GET /slow HTTP/1.1\nHost: h');
  t.equal(refused.status, 503);
  t.match(refused.head, /retry-after: 1/);
  t.strictSame(JSON.parse(refused.body), { error: 503, message: 'Server is overloaded' });
  const quick = await ask(port, 'GET /who HTTP/1.1\nHost: h');
  t.equal(quick.status, 200, 'what is answered at once is never refused');
  release();
  t.equal((await waiting).status, 200);
  t.equal((await ask(port, 'GET /who HTTP/1.1\nHost: h')).status, 200);
  const body = 'POST /size HTTP/1.1\nHost: h\nContent-Length: 600';
  t.equal((await ask(port, body, Buffer.alloc(600))).status, 503, 'all bodies together');
  const small = 'POST /size HTTP/1.1\nHost: h\nContent-Length: 400';
  t.equal((await ask(port, small, Buffer.alloc(400))).status, 200, 'the memory is given back');
});

t.test(
  'requests that wait for their turn count, and the rest is refused before it waits',
  async (t) => {
    const { port } = await listen(t, { maxInFlight: 4 });
    const request = 'POST /heavy HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na';
    const sockets = Array.from({ length: 40 }, () => open(port, ''));
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.once('connect', done))));
    const answers = sockets.map((socket) => new Promise((done) => socket.once('data', done)));
    for (const socket of sockets) socket.write(request);
    const statuses = (await Promise.all(answers)).map((one) => String(one).slice(9, 12));
    t.ok(statuses.filter((one) => one === '503').length > 20, 'most are refused');
    t.ok(statuses.filter((one) => one === '200').length >= 4, 'as many as may wait are served');
  },
);

/** An open connection that sends this and is closed with the test. */
function open(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  return socket;
}

const ended = (socket: Socket): Promise<unknown> =>
  new Promise((resolve) => socket.once('close', resolve));

/** A body that takes longer than a second may be ended; the rest is for a busy machine. */
const SLOW_MS = 1500;
const unfinished = 'POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\na';

t.test('bodies that do not arrive take nothing from others', async (t) => {
  const { port } = await listen(t, { maxInFlight: 8, maxBodies: 20, maxBodiesPerHost: 16 });
  const slow = Array.from({ length: 16 }, () => open(port, unfinished));
  // All are as old; a thread need not read them in the order in which they came.
  const oneEnded = Promise.race(slow.map(ended));
  await sleep(SLOW_MS);
  t.equal((await ask(port, 'GET /who HTTP/1.1\nHost: h')).status, 200);
  const head = 'POST /size HTTP/1.1\nHost: h\nContent-Length: 400';
  t.equal((await ask(port, head, Buffer.alloc(400))).status, 200, 'no answer is pending yet');
  open(port, unfinished);
  await oneEnded;
  const crowd = Array.from({ length: 40 }, () => open(port, unfinished));
  const refused = await Promise.race(
    crowd.map((socket) => new Promise((resolve) => socket.once('data', resolve))),
  );
  t.match(String(refused), /^HTTP\/1\.1 503/, 'of bodies that have only begun none is ended');
  t.equal((await ask(port, 'GET /who HTTP/1.1\nHost: h')).status, 200);
});

t.test('the oldest of too many bytes is ended', async (t) => {
  const { port } = await listen(t, { maxBodyBytes: 1200 });
  const slow = open(port, unfinished + 'a'.repeat(700));
  await sleep(SLOW_MS);
  const head = 'POST /size HTTP/1.1\nHost: h\nContent-Length: 900';
  const [answer] = await Promise.all([ask(port, head, Buffer.alloc(900)), ended(slow)]);
  t.equal(answer.status, 200);
});

t.test('large bodies leave room for small ones', async (t) => {
  const [large, small] = [2 * 1024 * 1024, 900 * 1024];
  const { port } = await listen(t, { maxBodyBytes: 6 * 1024 * 1024, smallBodyBytes: small });
  const head = `POST /large HTTP/1.1\nHost: h\nContent-Length: ${large}`;
  const unfinished = `${head.replaceAll('\n', '\r\n')}\r\n\r\n${'x'.repeat(large - 1)}`;
  const held = [open(port, unfinished), open(port, unfinished)];
  await sleep(100);
  const third = await ask(port, head, Buffer.alloc(large));
  t.equal(third.status, 503);
  t.match(third.head, /retry-after: 1/);
  const post = `POST /large HTTP/1.1\nHost: h\nContent-Length: ${small}`;
  t.equal((await ask(port, post, Buffer.alloc(small))).status, 200, 'a small one is served');
  const answers = held.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
  for (const socket of held) socket.write('x');
  for (const answer of await Promise.all(answers)) t.match(String(answer), /^HTTP\/1.1 200/);
  t.equal((await ask(port, head, Buffer.alloc(large))).status, 200, 'the memory is given back');
});

t.test('a connection is read on after a large body', async (t) => {
  const body = Buffer.alloc(12 * 1024 * 1024);
  const { port } = await listen(t, {});
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  t.teardown(() => dispatcher.close());
  for (let i = 0; i < 8; i++) {
    const answer = await request(`http://127.0.0.1:${port}/large`, {
      method: 'POST',
      body,
      dispatcher,
    });
    t.strictSame(await answer.body.json(), { size: body.length });
  }
});

t.test('a client that reads nothing', async (t) => {
  const { port } = await listen(t, { maxUnsentBytes: 20 * 1024 * 1024 });
  const request = 'GET /long HTTP/1.1\r\nHost: h\r\n\r\n';
  const idle = (text: string) => open(port, text).pause();
  t.test('is ended by its next request', async () => {
    const socket = idle(request.repeat(300));
    // Only a client that reads learns that its connection has ended.
    setTimeout(() => socket.resume(), 300);
    await ended(socket);
  });
  t.test('keeps one answer, and loses it when others need the room', async (t) => {
    const first = idle(request);
    // Longer than a client may receive nothing where others need the room.
    await sleep(1_200);
    idle(request);
    await sleep(100);
    let bytes = 0;
    first.on('data', (chunk) => {
      bytes += chunk.length;
    });
    first.resume();
    await ended(first);
    t.ok(bytes < LONG.length, `only ${bytes} bytes had left`);
  });
  t.test('and one that reads gets all of it', async (t) => {
    const whole = (text: string) => text.length > LONG.length;
    const { text } = await exchange(port, [request], whole, 10_000);
    t.equal(text.length - text.indexOf('\r\n\r\n') - 4, LONG.length);
  });
});

t.test('clients that go on receiving keep their answers while others come', async (t) => {
  const { port } = await listen(t, { maxUnsentBytes: 20 * 1024 * 1024 });
  const request = 'GET /long HTTP/1.1\r\nHost: h\r\n\r\n';
  /** Takes a part at a time, with pauses, until the other has begun. */
  const slowly = async (until: Promise<unknown>): Promise<number> => {
    const socket = open(port, request);
    let bytes = 0;
    let hurries = false;
    void until.then(() => {
      hurries = true;
      socket.resume();
    });
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > LONG.length) socket.destroy();
      if (hurries || socket.isPaused()) return;
      socket.pause();
      setTimeout(() => socket.resume(), 20);
    });
    socket.on('error', () => {});
    await once(socket, 'close');
    return bytes;
  };
  const begun = Promise.withResolvers<void>();
  const first = slowly(begun.promise);
  await sleep(200);
  const second = slowly(begun.promise);
  await sleep(200);
  begun.resolve();
  for (const bytes of await Promise.all([first, second])) t.ok(bytes > LONG.length, `${bytes}`);
});

t.test('a body is given back once it has left, or never will', async (t) => {
  let given = 0;
  const route = get('/given', () => ({
    status: 200,
    type: 'text/plain',
    body: LONG,
    sent: () => void given++,
  }));
  const server = await onOneThread.listen([route], {
    host: '127.0.0.1',
    port: 0,
    cors: false,
  });
  t.teardown(() => server.close());
  const request = 'GET /given HTTP/1.1\r\nHost: h\r\n\r\n';
  await exchange(server.port, [request], (text) => text.length > LONG.length, 10_000);
  t.ok(await eventually(async () => given === 1));
  const gone = open(server.port, request);
  await once(gone, 'data');
  gone.pause();
  t.equal(given, 1);
  gone.destroy();
  t.ok(await eventually(async () => given === 2));
});

t.test('connections are counted', async (t) => {
  const { port } = await listen(t, { maxConnections: 3 });
  const three = Array.from({ length: 3 }, () => connect(port, '127.0.0.1'));
  await Promise.all(three.map((socket) => new Promise((resolve) => socket.on('connect', resolve))));
  await sleep(50);
  const request = ['GET /who HTTP/1.1\r\nHost: h\r\n\r\n'];
  const refused = await exchange(port, request);
  t.strictSame([refused.closed, refused.text], [true, '']);
  for (const socket of three) socket.destroy();
  const isServed = async (): Promise<boolean> =>
    (await exchange(port, request, (text) => text.includes('false]'))).text.includes('200 OK');
  t.ok(await eventually(isServed));
});

t.test('a body that does not arrive ends its connection', async (t) => {
  const { port } = await listen(t, { bodyTimeoutMs: 200 });
  const head = 'POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\nabc';
  const { closed, text } = await exchange(port, [head], undefined, 3000);
  t.strictSame([closed, text], [true, '']);
  t.equal((await ask(port, 'GET /who HTTP/1.1\nHost: h')).status, 200);
});

t.test('a port is not shared', async (t) => {
  const { port } = await listen(t);
  await t.rejects(listen(t, { port }), { message: `HTTP: cannot listen on 127.0.0.1:${port}` });
});

t.test('a port is free again at once', async (t) => {
  const server = await listen(t);
  // The server ends this connection, so its side of it lingers.
  await exchange(server.port, ['HEAD /who HTTP/1.1\r\nHost: h\r\n\r\n']);
  await server.close();
  const again = await listen(t, { port: server.port });
  t.equal(again.port, server.port);
  t.equal((await ask(again.port, 'GET /who HTTP/1.1\nHost: h')).status, 200);
});

t.test('closing lets pending answers out and nothing more in', async (t) => {
  const server = await listen(t);
  const arrived = slowArrived();
  const waiting = ask(server.port, 'GET /slow HTTP/1.1\nHost: h');
  await arrived;
  let closed = false;
  const closing = server.close().then(() => {
    closed = true;
  });
  await sleep(50);
  t.notOk(closed);
  t.equal((await exchange(server.port, ['GET /who HTTP/1.1\r\n\r\n'])).text, '');
  release();
  t.equal((await waiting).status, 200);
  await closing;

  const stuck = await listen(t);
  const stuckArrived = slowArrived();
  const never = ask(stuck.port, 'GET /slow HTTP/1.1\nHost: h');
  await stuckArrived;
  await stuck.close();
  t.pass('a handler that never ends does not keep it open');
  release();
  await never;
});

t.test('an aborted request leaves nothing behind', async (t) => {
  const server = await listen(t, { maxInFlight: 1 });
  const socket = connect(server.port, '127.0.0.1');
  socket.write('POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\nabc');
  await sleep(50);
  socket.destroy();
  const answers = async () => (await ask(server.port, 'GET /who HTTP/1.1\nHost: h')).status === 200;
  t.ok(await eventually(answers));
});

t.test('TLS', async (t) => {
  const file = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url));
  const dir = t.testdir();
  const tls = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
  copyFileSync(file('test-only-cert.pem'), tls.cert);
  copyFileSync(file('test-only-key.pem'), tls.key);
  const server = await listen(t, { tls });
  const endIn = (pem: string) => Date.parse(new X509Certificate(pem).validTo);
  const first = readFileSync(tls.cert, 'utf8');
  t.equal(server.certificateEnd?.(), endIn(first));
  const client = undiciClient({ ca: readFileSync(tls.cert, 'utf8') });
  t.teardown(() => client.close());
  const url = `https://127.0.0.1:${server.port}/who`;
  t.match((await client.request({ method: 'GET', url })).text, '127.0.0.1');
  await server.reload();
  t.match((await client.request({ method: 'GET', url })).text, '127.0.0.1', 'after a reload');
  copyFileSync(file('test-only-later-cert.pem'), tls.cert);
  t.equal(server.certificateEnd?.(), endIn(first), 'the old one is in use');
  await server.reload();
  t.equal(server.certificateEnd?.(), endIn(readFileSync(tls.cert, 'utf8')));
  t.not(server.certificateEnd?.(), endIn(first));
  t.equal((await listen(t)).certificateEnd?.(), undefined, 'plain HTTP has none');
  await t.rejects(listen(t, { tls: { ...tls, key: file('absent.pem') } }));
});

t.test('heads over their bounds, and what cannot be a request', async (t) => {
  const { port } = await listen(t);
  const given = (line: string, ...headers: string[]): string =>
    `${[line, 'Host: h', ...headers].join('\r\n')}\r\n\r\n`;
  const GET = 'GET /who HTTP/1.1';
  const POST = 'POST /size HTTP/1.1';
  const cases: [status: number, bytes: string][] = [
    [200, given(GET, ...Array<string>(97).fill('X: y'))],
    [431, given(GET, ...Array<string>(99).fill('X: y'))],
    [200, given(GET, `X: ${'y'.repeat(4000)}`)],
    [431, given(GET, `X: ${'y'.repeat(8100)}`)],
    [431, given(`GET /${'y'.repeat(8000)} HTTP/1.1`)],
    [505, given('GET /who HTTP/1.0')],
    [505, given('GET /who HTTP/2.0')],
    [505, given('GET http://h/who HTTP/1.1')],
    [400, given(POST, 'Content-Length: -5')],
    [400, given(POST, 'Content-Length: 99999999999999999999')],
    [400, given(POST, 'Content-Length: 5, 5')],
    [400, given(POST, 'Transfer-Encoding: chunked', 'Content-Length: 3')],
    [400, `${given(POST, 'Transfer-Encoding: chunked')}zz\r\n`],
  ];
  for (const [status, bytes] of cases) {
    const isAnswered = (text: string): boolean => status === 200 && text.includes('false]');
    const { text, closed } = await exchange(port, [bytes], isAnswered);
    t.equal(text.slice(9, 12), String(status), bytes.slice(0, 60));
    if (status === 200) continue;
    t.match(text, /^HTTP\/1\.1 \d+ [^\r]+\r\nConnection: close\r\n\r\n<h1>/);
    t.ok(closed, 'and nothing more is read');
  }
});

t.test(
  'what cannot be a request is answered after the requests before it',
  { skip: !isNodeListener && 'the native listener answers it alone' },
  async (t) => {
    const { port } = await listen(t);
    const two = 'GET /nope HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(2);
    const { text } = await exchange(port, [`${two}GET /who HTTP/1.0\r\nHost: h\r\n\r\n`]);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    t.strictSame(statuses, ['404', '404', '505']);
  },
);

t.test('a request while the answer to the one before is pending', async (t) => {
  const { port } = await listen(t);
  const both = 'GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /who HTTP/1.1\r\nHost: h\r\n\r\n';
  const { text, closed } = await exchange(port, [both]);
  release();
  t.strictSame([text, closed], ['', true]);
});

t.test('garbage', async (t) => {
  const { port } = await listen(t);
  const bytes = [
    'GARBAGE\r\n\r\n',
    'GET\r\n\r\n',
    'POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\n',
    'POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n',
    'POST /size HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'POST /size HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: h\r\n\r\n`,
    `GET /who HTTP/1.1\r\nHost: h\r\n${'X-A: b\r\n'.repeat(500)}\r\n`,
    'GET /\0\x01\xff HTTP/1.1\r\nHost: h\r\n\r\n',
    Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)),
  ];
  for (const piece of bytes) {
    const { text } = await exchange(port, [piece], undefined, 150);
    // 505 is the parser's word on other versions of HTTP.
    t.notMatch(text, /HTTP\/1\.1 50[0-4]/);
  }
  t.equal((await ask(port, 'GET /who HTTP/1.1\nHost: h')).status, 200);
});
