/** What the client of other nodes takes: no answer without an end, in bytes or in time. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { AnswerTooLong } from '../../../src/base/ports/http.ts';

const BYTES_MAX = 10_000;

t.test('answers are bounded', async (t) => {
  let isClosed = false;
  const server = createServer((request, response) => {
    response.on('close', () => {
      isClosed = true;
    });
    const send = (): void => {
      if (response.destroyed) return;
      response.write('x'.repeat(request.url === '/slow' ? 1 : 1000));
      setTimeout(send, 1);
    };
    if (request.url === '/exact') response.end('x'.repeat(BYTES_MAX));
    else send();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const get = (path: string, answerMsMax: number) => {
    const client = undiciClient({ answerBytesMax: BYTES_MAX, answerMsMax });
    t.teardown(() => client.close());
    return client.request({ method: 'GET', url: `http://127.0.0.1:${port}${path}` });
  };
  t.equal((await get('/exact', 60_000)).text.length, BYTES_MAX);
  await t.rejects(get('/endless', 60_000), AnswerTooLong);
  while (!isClosed) await new Promise((resolve) => setTimeout(resolve, 5));
  await t.rejects(get('/slow', 300), /timeout/i);
  server.closeAllConnections();
  server.close();
});
