/**
 * How much of a turn of the event loop one connection gets, for served and for refused requests.
 */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { RequestQueue } from '../../../src/adapters/http/connection-threads/request-queue.ts';
import type { HttpReply, HttpRoute } from '../../../src/base/ports/http.ts';
import { http } from '../../http-listener.ts';
import { ask, exchange } from './raw-socket.ts';

const ok = (body: unknown): HttpReply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(body),
});

const get = (pattern: string, handle: HttpRoute['handle']): HttpRoute => ({
  method: 'GET',
  pattern,
  maxBody: 0,
  keep: [],
  handle,
});

function work(): HttpReply {
  const until = performance.now() + 2;
  while (performance.now() < until);
  return ok(1);
}

t.test('one connection does not hold a turn', async (t) => {
  const busy = get('/busy', work);
  const server = await http.listen([busy], { host: '127.0.0.1', port: 0, cors: false });
  t.teardown(() => server.close());
  const request = 'GET /busy HTTP/1.1\r\nHost: h\r\n\r\n';
  const { text, closed } = await exchange(server.port, [request.repeat(500)], undefined, 5000);
  t.ok(closed, 'it pipelines more than a turn serves');
  t.ok(text.split('200 OK').length < 100);
  const polite = await Promise.all(
    Array.from({ length: 50 }, () => ask(server.port, 'GET /busy HTTP/1.1\nHost: h')),
  );
  t.ok(
    polite.every(({ status }) => status === 200),
    'others are served in the next turns',
  );
});

t.test('nor does one whose requests are all refused', async (t) => {
  const refused = { ...get('/refused', () => ok(1)), admit: () => ({ ...work(), status: 403 }) };
  const server = await http.listen([refused], { host: '127.0.0.1', port: 0, cors: false });
  t.teardown(() => server.close());
  const request = 'GET /refused HTTP/1.1\r\nHost: h\r\n\r\n';
  const { text, closed } = await exchange(server.port, [request.repeat(500)], undefined, 5000);
  t.ok(closed, 'it pipelines more than a turn refuses');
  t.ok(text.split('403 Forbidden').length < 100);
  const polite = await Promise.all(
    Array.from({ length: 50 }, () => ask(server.port, 'GET /refused HTTP/1.1\nHost: h')),
  );
  t.ok(polite.every(({ status }) => status === 403));
  const unknown = await Promise.all(
    Array.from({ length: 50 }, (_, i) => ask(server.port, `GET /unknown/${i} HTTP/1.1\nHost: h`)),
  );
  t.ok(unknown.every(({ status }) => status === 404));
});

t.test('a request without a body does not wait behind those with one', async (t) => {
  const order: string[] = [];
  const dear: HttpRoute = {
    method: 'POST',
    pattern: '/dear',
    maxBody: 100,
    keep: [],
    handle() {
      order.push('dear');
      for (let i = 0; i < 5; i++) work();
      return ok(1);
    },
  };
  const cheap = get('/cheap', () => {
    order.push('cheap');
    return ok(1);
  });
  const server = await http.listen([dear, cheap], {
    host: '127.0.0.1',
    port: 0,
    cors: false,
  });
  t.teardown(() => server.close());
  const head = 'POST /dear HTTP/1.1\nHost: h\nContent-Length: 2';
  const posts = Array.from({ length: 60 }, () => ask(server.port, head, '{}'));
  while (order.length === 0) await turn();
  t.equal((await ask(server.port, 'GET /cheap HTTP/1.1\nHost: h')).status, 200);
  t.ok((await Promise.all(posts)).every(({ status }) => status === 200));
  t.ok(order.indexOf('cheap') < 40, `it was number ${order.indexOf('cheap')} of ${order.length}`);
});

t.test('nor does one that a thread has passed on', async (t) => {
  const line = new RequestQueue();
  const order: string[] = [];
  for (let i = 0; i < 10; i++) {
    line.add(() => {
      order.push('dear');
      work();
      work();
    }, true);
  }
  line.add(() => order.push('cheap'), false);
  while (order.length < 11) await turn();
  t.ok(order.indexOf('cheap') < 3);
});
