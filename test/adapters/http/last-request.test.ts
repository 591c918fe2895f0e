// The last request of a connection: who asks for its end hears of it, as RFC 9112 has it (9.6). A
// client with a pool would send its next request on a connection that ends.
import { once } from 'node:events';
import { Agent, get as nodeGet } from 'node:http';
import t from 'tap';
import type { HttpReply, HttpRoute } from '../../../src/base/ports/http.ts';
import { http } from '../../http-listener.ts';
import { exchange, hasHead } from './raw-socket.ts';

const reply = (body: string): HttpReply => ({ status: 200, type: 'text/plain', body });
const route = (method: 'GET' | 'POST', pattern: string, handle: HttpRoute['handle']) => ({
  ...{ method, pattern, handle, keep: [] },
  maxBody: method === 'POST' ? 10 : 0,
});

const server = await http.listen(
  [
    route('GET', '/now', () => reply('now')),
    route('GET', '/later', async () => reply('later')),
    route('POST', '/body', () => reply('body')),
  ],
  { host: '127.0.0.1', port: 0, cors: true },
);
t.teardown(() => server.close());

const SAYS_CLOSE = /^connection: close\r?$/gim;

t.test('an answer says that the connection ends with it', async (t) => {
  const cases: [line: string, body?: string][] = [
    ['GET /now'],
    ['GET /later'],
    ['GET /nothing'],
    ['OPTIONS /now'],
    ['POST /body', 'abc'],
    ['POST /body', 'more than ten'],
    // So much is refused with the end of the connection in any case.
    ['POST /body', 'x'.repeat(50)],
  ];
  for (const [line, body = ''] of cases) {
    for (const close of ['close', 'Close']) {
      const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
      const head = `${line} HTTP/1.1\r\nHost: h\r\nConnection: ${close}\r\n${length}\r\n`;
      const { text, closed } = await exchange(server.port, [head + body]);
      const name = `${line} ${body.length}, ${close}`;
      t.match(text, /^HTTP\/1\.1 \d/, name);
      t.equal(text.match(SAYS_CLOSE)?.length, 1, `${name}: once`);
      t.ok(closed, `${name}: and it ends`);
    }
  }
  const head = 'HEAD /now HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';
  const { text } = await exchange(server.port, [head], hasHead);
  t.match(text, /^content-length: 3\r?$/im);
  t.match(text, SAYS_CLOSE);
});

t.test('the end of the connection is one option of several', async (t) => {
  for (const connection of ['TE, close', 'close, TE', 'TE ,  CLOSE , x']) {
    const head = `GET /now HTTP/1.1\r\nHost: h\r\nConnection: ${connection}\r\n\r\n`;
    const { text } = await exchange(server.port, [head], (text) => text.endsWith('now'));
    t.equal(text.match(SAYS_CLOSE)?.length, 1, connection);
  }
});

t.test('other answers say nothing of the connection, and it goes on', async (t) => {
  for (const connection of ['', 'Connection: keep-alive\r\n', 'Connection: TE, closed\r\n']) {
    const head = `GET /now HTTP/1.1\r\nHost: h\r\n${connection}\r\n`;
    const both = (text: string): boolean => text.split('now').length === 3;
    const { text } = await exchange(server.port, [head, head], both);
    t.equal(text.split('HTTP/1.1 200').length, 3);
    t.notMatch(text, /^connection:/im);
  }
});

t.test('a client that pools connections, yet asks for their end, loses no request', async (t) => {
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  for (let i = 0; i < 10; i++) {
    const headers = { connection: 'close' };
    const request = nodeGet({ port: server.port, path: '/now', agent, headers });
    const [answer] = await once(request, 'response');
    t.equal(answer.statusCode, 200);
    answer.resume();
    await once(answer, 'end');
  }
});
