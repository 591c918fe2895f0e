// Which pages of other origins may read answers, and with what.
import t from 'tap';
import { corsOf } from '../../../src/adapters/http/cors.ts';
import type { OtherOrigins } from '../../../src/base/ports/http.ts';
import { http } from '../../http-listener.ts';
import { ask } from './raw-socket.ts';

const CHOSEN: OtherOrigins = {
  allowed: ['https://a.example', 'http://b.example:8080'],
  exposed: ['ETag', 'X-Next-Index'],
  accepted: ['Content-Type', 'X-Api-Key'],
};

t.test('chosen origins', async (t) => {
  const cors = corsOf(CHOSEN)!;
  t.strictSame(cors.answer('https://a.example'), [
    ['access-control-allow-origin', 'https://a.example'],
    ['access-control-allow-credentials', 'true'],
    ['vary', 'Origin'],
    ['access-control-expose-headers', 'ETag, X-Next-Index'],
  ]);
  for (const other of [
    '',
    'null',
    'https://a.example:8443',
    'http://a.example',
    'https://b.a.example',
  ]) {
    t.strictSame(cors.answer(other), [['vary', 'Origin']], other);
    t.strictSame(cors.preflight(other).status, 403, other);
  }
  const { status, headers } = cors.preflight('http://b.example:8080');
  t.equal(status, 200);
  t.strictSame(
    new Map(headers),
    new Map([
      ['access-control-allow-origin', 'http://b.example:8080'],
      ['access-control-allow-credentials', 'true'],
      ['vary', 'Origin'],
      ['access-control-allow-headers', 'Content-Type, X-Api-Key'],
      ['access-control-allow-methods', 'GET, POST, OPTIONS'],
      ['access-control-max-age', '600'],
    ]),
  );
});

t.test('all origins, without credentials', async (t) => {
  const cors = corsOf({ ...CHOSEN, allowed: '*' })!;
  for (const origin of ['', 'https://a.example']) {
    t.strictSame(cors.answer(origin), [
      ['access-control-allow-origin', '*'],
      ['access-control-expose-headers', 'ETag, X-Next-Index'],
    ]);
    t.notOk(new Map(cors.preflight(origin).headers).has('access-control-allow-credentials'));
  }
});

t.test('every origin may send what the methods read', async (t) => {
  const { headers } = corsOf(true)!.preflight('https://a.example');
  const accepted = new Map(headers).get('access-control-allow-headers')!.split(', ');
  for (const name of ['X-API-Key', 'api_key', 'Content-Type', 'Accept', 'Last-Event-ID'])
    t.ok(accepted.includes(name), name);
});

t.test('on the wire, answers and refusals alike', async (t) => {
  const route = {
    method: 'GET',
    pattern: '/here',
    maxBody: 0,
    keep: [],
    handle: () => ({ status: 200, type: 'text/plain', body: 'x' }),
  } as const;
  const server = await http.listen([route], { host: '127.0.0.1', port: 0, cors: CHOSEN });
  t.teardown(() => server.close());
  const head = async (line: string, origin: string) =>
    (await ask(server.port, `${line} HTTP/1.1\nHost: h\nOrigin: ${origin}`)).head;
  t.match(await head('GET /here', 'https://a.example'), 'allow-origin: https://a.example');
  t.match(await head('GET /away', 'https://a.example'), 'allow-origin: https://a.example');
  t.match(await head('GET /here', 'https://c.example'), 'vary: Origin');
  t.notMatch(await head('GET /here', 'https://c.example'), 'access-control');
  t.match(await head('OPTIONS /here', 'https://c.example'), /^HTTP\/1.1 403/);
  t.match(
    await head('OPTIONS /here', 'https://a.example'),
    'allow-headers: Content-Type, X-Api-Key',
  );
});
