// The HTTP port beside threads that do a part of the requests.
import { existsSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { offloadHttp } from '../../../../src/adapters/http/offload/offload-http.ts';
import type { HttpReply, HttpRoute, HttpServerOptions } from '../../../../src/base/ports/http.ts';
import { http } from '../../../http-listener.ts';
import { ask, eventually } from '../raw-socket.ts';

const ok = (value: unknown): HttpReply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value),
});

async function listen(t: Test, options: Partial<HttpServerOptions> = {}) {
  const seen: unknown[] = [];
  const deaths: unknown[] = [];
  let arrived = 0;
  const half: HttpRoute = {
    method: 'POST',
    pattern: '/half/:x',
    maxBody: 300_000,
    keep: ['x-kept', 'accept'],
    mayWait: true,
    admit() {
      arrived++;
      return undefined;
    },
    handle: (of, body) => {
      const text = Buffer.from(body ?? []).toString();
      return ok(['whole', of.param(0), of.query, of.header('x-kept'), text]);
    },
    answered: (status) => void seen.push(status),
    offload: {
      work: 'half',
      unlessAccepts: 'undivided',
      async finish(message) {
        const asked = Buffer.from(message).toString();
        return asked === 'other' ? { ...ok('another answer'), status: 409 } : undefined;
      },
    },
  };
  const offload = offloadHttp({
    http,
    workers: { half: new URL('offload-worker.ts', import.meta.url) },
    onDeath: (cause) => void deaths.push(cause),
  });
  const server = await offload.listen([half], {
    host: '127.0.0.1',
    port: 0,
    cors: false,
    ...options,
  });
  t.teardown(() => server.close());
  const post = (body: string, accept = '*/*') =>
    ask(
      server.port,
      `POST /half/a?b=c HTTP/1.1\nHost: h\nX-Kept: k\nAccept: ${accept}\nContent-Length: ${body.length}`,
      body,
    );
  return { post, seen, deaths, arrived: () => arrived };
}

t.test('a thread does its part', async (t) => {
  const { post, seen, deaths } = await listen(t);
  t.equal((await post('mine')).body, 'own answer to mine');
  const other = await post('other');
  t.strictSame([other.status, other.body], [409, '"another answer"']);
  t.strictSame(JSON.parse((await post('pass on')).body), ['whole', 'a', 'b=c', 'k', 'pass on']);
  t.strictSame(JSON.parse((await post('')).body), ['whole', 'a', 'b=c', 'k', '']);
  const undivided = await post('mine', 'text/undivided');
  t.strictSame(JSON.parse(undivided.body), ['whole', 'a', 'b=c', 'k', 'mine']);
  const refused = await post('refuse');
  t.strictSame([refused.status, refused.body], [400, 'refused by the thread']);
  t.strictSame(seen, [400], 'which is counted');
  t.strictSame(deaths, []);
});

t.test('each of many gets its own answer, whatever its length', async (t) => {
  const { post } = await listen(t);
  const bodies = Array.from({ length: 200 }, (_, i) => `${i}`.padEnd(i % 9 === 0 ? 40_000 : i));
  const answers = await Promise.all(bodies.map((body) => post(body)));
  t.strictSame(
    answers.map(({ body }) => body),
    bodies.map((body) => `own answer to ${body}`),
  );
});

t.test('what is too much is refused while threads work', async (t) => {
  const { post, arrived } = await listen(t, { maxInFlight: 2 });
  const file = join(t.testdir(), 'enough');
  const order: string[] = [];
  const busy = Array.from({ length: 2 }, () =>
    post(`be busy until ${file}`).then(() => order.push('worked')),
  );
  t.ok(await eventually(async () => arrived() === 2));
  t.ok(await eventually(async () => (await post('more')).status === 503));
  order.push('refused');
  writeFileSync(file, '');
  await Promise.all(busy);
  t.strictSame(order, ['refused', 'worked', 'worked']);
});

t.test('no request waits for a thread that starts', async (t) => {
  const folder = t.testdir();
  const { post } = await listen(t, { forThreads: folder });
  const enough = join(folder, 'enough');
  const busy = post(`be busy until ${enough}`);
  t.ok(await eventually(async () => existsSync(join(folder, 'first'))));
  const next = Array.from({ length: 3 }, (_, i) => post(`n${i}`));
  writeFileSync(enough, '');
  t.strictSame(
    (await Promise.all([busy, ...next])).map(({ status }) => status),
    [200, 200, 200, 200],
  );
  writeFileSync(join(folder, 'later'), '');
});

t.test('threads give way', { skip: process.platform !== 'linux' }, async (t) => {
  const { post } = await listen(t);
  t.equal(Number((await post('priority')).body), Math.min(19, getPriority() + 8));
});

t.test('the end of a thread is reported', async (t) => {
  const { post, deaths } = await listen(t);
  void post('die ahead');
  t.ok(await eventually(async () => deaths.length > 0));
  t.match(String(deaths[0]), /unexpected/);
});
