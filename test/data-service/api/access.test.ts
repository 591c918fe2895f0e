/** Who may ask, and how often (data-service.md#access). */
import t from 'tap';
import { utf8 } from '../../../src/base/bytes.ts';
import { ipRange } from '../../../src/base/ip-range.ts';
import type { HttpRequest } from '../../../src/base/ports/http.ts';
import { configuredFamily } from '../../../src/crypto/families.ts';
import { type AccessOptions, accessGuard } from '../../../src/data-service/api/access.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { OPEN_TO_ALL, served } from '../served.ts';
import { migratedDatabase } from '../stores.ts';

const family = configuredFamily(true);
const hash = (key: string): Uint8Array => family.secureHash(utf8(key));

const ranges = (...texts: string[]) => texts.map((text) => ipRange(text)!);

/** The status of a refusal; `messages` gets its text. */
function guard(
  changes: Partial<AccessOptions>,
  time = { ms: 0 },
  messages: (string | undefined)[] = [],
) {
  const clock = { monotonic: () => time.ms } as Parameters<typeof accessGuard>[2];
  const judge = accessGuard({ ...OPEN_TO_ALL, ...changes }, family, clock);
  return (headers: Readonly<Record<string, string>> = {}, from = '127.0.0.1') => {
    const refusal = judge({
      header: (name: string) => headers[name] ?? '',
      headers: (name: string) => headers[name] ?? '',
      remoteAddress: () => from,
    } as unknown as HttpRequest);
    messages.push(refusal?.message);
    return refusal?.status;
  };
}

t.test('keys', async (t) => {
  const messages: (string | undefined)[] = [];
  const keyHashes = [hash('first'), hash('second')];
  const ask = guard({ auth: 'api-key', keyHashes }, undefined, messages);
  t.equal(ask(), 401, 'none');
  t.equal(ask({ 'x-api-key': 'third' }), 403, 'a wrong one');
  t.strictSame(messages, [
    'No API key was given: send it in the header X-API-Key',
    'Provided API key is not correct',
  ]);
  t.equal(ask({ 'x-api-key': 'first' }), undefined);
  t.equal(ask({ 'x-api-key': 'second' }), undefined, 'each of the list');
  t.equal(ask({ authorization: 'Bearer second' }), undefined);
  t.equal(ask({ authorization: 'Bearer third' }), 403);
  t.equal(ask({ authorization: 'Basic second' }), 401);
});

t.test('proxies', async (t) => {
  const ask = guard({ auth: 'proxy', trustedProxies: ranges('10.0.0.7', 'fd00::/8') });
  t.equal(ask({}, '10.0.0.7'), undefined);
  t.equal(ask({}, '::ffff:10.0.0.7'), undefined);
  t.equal(ask({}, 'fd00:0:0:0:0:0:0:9'), undefined, 'a range');
  t.equal(ask({}, 'fe80:0:0:0:0:0:0:9'), 403);
  t.equal(ask({ 'x-forwarded-for': '10.0.0.7' }, '10.0.0.8'), 403, 'a header is no proof');
});

t.test('rate', async (t) => {
  const time = { ms: 0 };
  const ask = guard({ rate: 2, burst: 3 }, time);
  t.strictSame([ask(), ask(), ask(), ask()], [undefined, undefined, undefined, 429]);
  t.equal(ask({}, '10.0.0.9'), undefined, 'each client has its own');
  time.ms = 500;
  t.strictSame([ask(), ask()], [undefined, 429], 'two a second');
  time.ms = 60_000;
  t.strictSame([ask(), ask(), ask(), ask()], [undefined, undefined, undefined, 429], 'the burst');
});

t.test('the rate of version 6 belongs to the line', async (t) => {
  const ask = guard({ rate: 1, burst: 2 });
  const from = (...texts: string[]) => texts.map((text) => ask({}, text));
  t.strictSame(from('2001:db8::1', '2001:db8::2', '2001:db8::3'), [undefined, undefined, 429]);
  t.strictSame(from('2001:db8:0:1::1', 'fd00::1', 'fd00::2'), [undefined, undefined, undefined]);
});

t.test('the rate belongs to the client, whatever it says', async (t) => {
  const behind = guard({ rate: 1, burst: 1, trustedProxies: ranges('10.0.0.0/8') });
  const from = (way: string, proxy = '10.0.0.7') => behind({ 'x-forwarded-for': way }, proxy);
  t.strictSame([from('192.0.2.1'), from('192.0.2.1')], [undefined, 429]);
  t.equal(from('192.0.2.2'), undefined, 'each client of a proxy has its own');
  t.equal(
    from('192.0.2.9, 192.0.2.1, 10.1.1.1'),
    429,
    'what the client wrote itself has no effect',
  );
  t.strictSame([from('x', '192.0.2.3'), from('y', '192.0.2.3')], [undefined, 429], 'no proxy');
  const open = guard({ rate: 1, burst: 1 });
  t.strictSame([open({ 'x-api-key': 'a' }), open({ 'x-api-key': 'b' })], [undefined, 429]);
  const keyed = guard({ auth: 'api-key', keyHashes: [hash('key')], rate: 1, burst: 2 });
  const tried = ['a', 'b', 'c'].map((key) => keyed({ 'x-api-key': key }));
  t.strictSame(tried, [403, 403, 429], 'keys cannot be tried without limit');
  t.equal(keyed({ 'x-api-key': 'key' }), undefined, 'the holder of a key has a rate of its own');
});

t.test('the service with keys: health and pages are open', async (t) => {
  const chain = madeChain({ seed: 'keys', txsPerBlock: 3, accounts: 10 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const access = { ...OPEN_TO_ALL, auth: 'api-key' as const, keyHashes: [hash('key')] };
  const service = await served(t, node.url, migratedDatabase, { access });
  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await service.get(path, headers)).status;
  for (const path of ['/health/live', '/explorer', '/api-docs/openapi.json']) {
    t.equal(await status(path), 200, path);
  }
  for (const path of ['/transactions', '/status', '/node-api/node/config']) {
    t.equal(await status(path), 401, path);
    t.equal(await status(path, { 'x-api-key': 'other' }), 403, path);
  }
  t.equal(await status('/node-api/node/config', { 'x-api-key': 'key' }), 200);
  t.match((await service.get('/transactions')).json, { error: 2 });
});

t.test('a service that is behind, or has no store yet', async (t) => {
  const chain = madeChain({ seed: 'behind', txsPerBlock: 3, accounts: 10 });
  chain.grow(50);
  const node = await madeNode(t, () => chain);
  const opening = Promise.withResolvers<void>();
  const db = await migratedDatabase();
  const open = async () => {
    await opening.promise;
    return db;
  };
  const options = { maxLag: 10, strictLag: true };
  const service = await served(t, node.url, open, options);
  t.equal((await service.get('/health/live')).status, 200);
  t.match((await service.get('/health/ready')).json, { reasons: [{ code: 'store' }] });
  t.match(await service.get('/transactions'), { status: 503, json: { error: 503 } });
  opening.resolve();
  await service.reached(51);
  t.match(await service.get('/health/ready'), { status: 200, json: { status: 'ready' } });
  chain.grow(1);
  await service.reached(52);
});
