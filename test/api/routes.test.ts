// What surrounds the handlers: keys, parameters, bodies, errors.
import t from 'tap';
import { parse } from '../../src/base/json.ts';
import { exchangeJson } from './exchange-json.ts';
import { memoryNode } from './memory-node.ts';

const GENESIS_TIME = 1_500_000_000_000;
const whole = await memoryNode(t, { genesisTime: GENESIS_TIME });
const { url, log, accounts, serve, apiKey: API_KEY, privacyApiKey: PRIVACY_KEY } = whole;
const [first, second] = accounts;
const { services } = whole.node;
const { settings } = services;

const get = (path: string, headers = {}) => exchangeJson('GET', url + path, headers);
const post = (path: string, body?: string, headers = {}) =>
  exchangeJson('POST', url + path, headers, body);

t.test('numbers in paths', async (t) => {
  const cases: readonly (readonly [path: string, message: string])[] = [
    ['/blocks/at/abc', "Invalid parameter: Unable to parse Integer from 'abc'"],
    ['/blocks/at/0', "Invalid parameter: '0' must be positive"],
    ['/blocks/at/2147483648', "Invalid parameter: Unable to parse Integer from '2147483648'"],
    ['/blocks/at/1.5', "Invalid parameter: Unable to parse Integer from '1.5'"],
    ['/consensus/miners/x', "Invalid parameter: Unable to parse Long from 'x'"],
    ['/consensus/miners/-5', "Invalid parameter: '-5' must be positive"],
    [
      '/addresses/seq/x/-1',
      "Invalid parameters: [Unable to parse Integer from 'x', '-1' must be positive]",
    ],
    [
      `/addresses/data/${first.text}?offset=-1&limit=0`,
      "Invalid parameters: ['-1' must be non-negative, '0' must be positive]",
    ],
    ['/addresses/seq/5/3', 'Invalid interval'],
    [`/transactions/address/${first.text}/limit/x`, 'invalid.limit'],
    [`/transactions/address/${first.text}`, 'invalid.limit'],
  ];
  for (const [path, message] of cases) {
    const { status, body } = await get(path);
    t.strictSame([path, status, body], [path, 400, { error: 199, message }]);
  }
  t.strictSame((await get('/consensus/miners/9223372036854775807')).text.includes('775807'), true);
});

t.test('addresses, keys and ids', async (t) => {
  const codes: readonly (readonly [path: string, status: number, code: unknown])[] = [
    ['/addresses/balance/0OIl', 400, 102],
    [`/addresses/balance/${first.text}x`, 400, 102],
    ['/addresses/publicKey/0OIl', 400, 108],
    ['/addresses/publicKey/abc', 400, 108],
    ['/transactions/info', 400, 101],
    ['/transactions/info/', 400, 101],
    ['/unconfirmed/info/', 400, 101],
    ['/transactions/unconfirmed/info/0OIl', 400, 101],
    ['/blocks/signature/0OIl', 400, 101],
    [`/blocks/signature/${'1'.repeat(89)}`, 400, 101],
    ['/blocks/height/abc', 404, 301],
    ['/contracts/0OIl', 404, 600],
    ['/contracts/abc/key', 404, 600],
    ['/contracts/status/0OIl', 400, 199],
    ['/contracts/status/abc', 404, 605],
    ['/contracts/executed-tx-for/abc', 404, 601],
    ['/privacy/0OIl/recipients', 400, 199],
    ['/privacy/abc/owners', 400, 612],
    ['/privacy/abc/hashes', 400, 612],
    [`/assets/balance/${first.text}/0OIl`, 400, 118],
    [`/assets/${'1'.repeat(45)}/distribution`, 400, 199],
    ['/assets/details/abc', 400, 199],
    ['/alias/by-alias/UPPER', 400, 199],
    ['/alias/by-alias/nobody', 404, 302],
    ['/alias/by-alias/alias:W:nobody', 400, 199],
    [`/addresses/data/${first.text}/a%2Fb`, 404, 304],
    [`/addresses/data/${first.text}/`, 404, 304],
    ['/permissions/addresses', 400, 102],
    ['/addresses/balance/details', 400, 102],
    ['/consensus/minersAtHeight/2', 400, 310],
    ['/consensus/basetarget', 400, 199],
    ['/addresses/seq/0/1001', 400, 10],
    ['/blocks/seq/1/101', 400, 10],
    ['/utils/seed/1025', 400, 10],
    ['/peers/connected', 200, undefined],
  ];
  for (const [path, status, code] of codes) {
    const answer = await get(path);
    t.strictSame([path, answer.status, answer.body['error']], [path, status, code]);
  }
  const key = await get(`/addresses/data/${first.text}/a%2Fb%20c`);
  t.equal(key.body['message'], 'no data for this key: a/b c');
  t.strictSame((await get('/blocks/at/7')).body, {
    status: 'error',
    details: 'No block for this height',
  });
});

t.test('a trailing slash changes nothing', async (t) => {
  for (const path of ['/blocks/height', `/addresses/balance/${first.text}`, '/node/version']) {
    t.strictSame((await get(`${path}/`)).body, (await get(path)).body);
  }
  t.equal((await get('/blocks/height//')).status, 404);
  t.equal((await get('/Blocks/Height')).status, 404);
});

t.test('keys', async (t) => {
  const sign = `/addresses/signText/${first.text}`;
  const wrong = { error: 2, message: 'Provided API key is not correct' };
  const tries: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{}, 403],
    [{ 'X-API-Key': 'x' }, 403],
    [{ 'X-API-Key': '' }, 403],
    [{ 'X-API-Key': PRIVACY_KEY }, 403],
    [{ 'X-API-Key': API_KEY }, 400],
    [{ 'x-api-key': API_KEY }, 400],
    [{ api_key: API_KEY }, 400],
    [{ api_key: API_KEY, 'X-API-Key': 'x' }, 403],
  ];
  for (const [headers, status] of tries) {
    const answer = await post(sign, '{not json', headers);
    t.equal(answer.status, status);
    if (status === 403) t.strictSame(answer.body, wrong);
  }
  const force = (key: string) => post('/privacy/forceSync', '', { 'X-API-Key': key });
  t.equal((await force(API_KEY)).body['error'], 613);
  t.equal((await force(PRIVACY_KEY)).body['error'], 613);
  t.equal((await force('x')).body['error'], 614);
  const data = (key: string) => get(`/privacy/getData/${'a'.repeat(64)}`, { 'X-API-Key': key });
  t.equal((await data(API_KEY)).body['error'], 614);
  t.equal((await data(PRIVACY_KEY)).body['error'], 613);
});

t.test('reload-wallet', async (t) => {
  const path = '/utils/reload-wallet';
  t.equal((await post(path)).status, 200, 'from this machine');
  t.equal((await post(path, '', { 'X-Forwarded-For': '10.0.0.1' })).status, 403);
  t.equal((await post(path, '', { Forwarded: 'for=10.0.0.1' })).status, 403);
  const keyed = { 'X-Forwarded-For': '10.0.0.1', 'X-API-Key': API_KEY };
  t.equal((await post(path, '', keyed)).status, 200);
});

t.test('without configured hashes nobody passes', async (t) => {
  const bare = { ...settings, apiKeyHash: undefined, privacyApiKeyHash: undefined };
  const locked = await serve({ settings: { ...bare, cryptoApiKey: true } });
  for (const path of [`/addresses/sign/${first.text}`, '/privacy/forceSync', '/crypto/decrypt']) {
    for (const headers of [{}, { 'X-API-Key': API_KEY }, { 'X-API-Key': 'undefined' }]) {
      t.equal((await exchangeJson('POST', locked.url + path, headers, '{}')).status, 403);
    }
  }
  const fallen = await serve({ settings: { ...settings, privacyApiKeyHash: undefined } });
  const headers = { 'X-API-Key': API_KEY };
  const answer = await exchangeJson('POST', `${fallen.url}/privacy/forceSync`, headers, '');
  t.equal(answer.body['error'], 613, 'the general key stands in for the privacy key');
});

t.test('bodies', async (t) => {
  const path = '/addresses/balance/details';
  const message = 'failed to parse json message';
  const bad = (validationErrors: unknown) => ({ error: 1, message, cause: null, validationErrors });
  const at = (field: string, why: string) => ({ [field]: [{ msg: [why], args: [] }] });
  const cases: readonly (readonly [body: string | undefined, answer: unknown])[] = [
    [undefined, bad({})],
    ['', bad({})],
    ['{', bad({})],
    ['['.repeat(200_000), bad({})],
    ['[]', bad(at('obj', 'error.expected.jsobject'))],
    ['7', bad(at('obj', 'error.expected.jsobject'))],
    ['{}', bad(at('obj.addresses', 'error.path.missing'))],
    ['{"addresses":null}', bad(at('obj.addresses', 'error.path.missing'))],
    ['{"addresses":"x"}', bad(at('obj.addresses', 'error.expected.jsarray'))],
    ['{"addresses":["a",1]}', bad(at('obj.addresses[1]', 'error.expected.jsstring'))],
    ['{"__proto__":{"addresses":[]}}', bad(at('obj.addresses', 'error.path.missing'))],
  ];
  for (const [body, answer] of cases) {
    const got = await post(path, body);
    t.strictSame([body?.slice(0, 40), got.status, got.body], [body?.slice(0, 40), 400, answer]);
  }
  const both = await post('/permissions/addresses', '{"addresses":7,"timestamp":true}');
  t.strictSame(
    both.body['validationErrors'],
    {
      ...at('obj.addresses', 'error.expected.jsarray'),
      ...at('obj.timestamp', 'error.expected.jsnumber'),
    },
    'all at once',
  );
  const whys = { '1.5': 'long', '9223372036854775808': 'long', '"x"': 'jsnumber' };
  for (const [value, why] of Object.entries(whys)) {
    const answer = await post('/permissions/addresses', `{"addresses":[],"timestamp":${value}}`);
    t.strictSame(answer.body['validationErrors'], at('obj.timestamp', `error.expected.${why}`));
  }
  for (const value of ['9223372036854775807', '"9223372036854775807"']) {
    const answer = await post('/permissions/addresses', `{"addresses":[],"timestamp":${value}}`);
    t.match(answer.text, '"timestamp":9223372036854775807}');
  }
});

t.test('GET balance/details', async (t) => {
  const path = `/addresses/balance/details/${first.text}`;
  const one = (await get(path)).body as unknown as { address: string }[];
  t.equal(one[0]?.address, first.text);
  const body = JSON.stringify({ addresses: [second.text, 'bad'] });
  const json = { 'Content-Type': 'application/json' };
  const many = await exchangeJson('GET', url + path, json, body);
  const list = parse(many.text) as { address: string; error?: number }[];
  t.strictSame(
    list.map((item) => item.address),
    [second.text, 'bad'],
  );
  t.equal(list[1]?.error, 102);
  t.equal((await exchangeJson('GET', url + path, json, '{')).body['error'], 1);

  const sdk = await serve({ settings: { ...settings, sdkCompatible: true } });
  t.equal((await exchangeJson('GET', sdk.url + path)).body['address'], first.text, 'bare');
});

t.test('signing and verifying', async (t) => {
  const key = { 'X-API-Key': API_KEY };
  const message = 'привет '.repeat(300);
  for (const [sign, verify] of [
    ['sign', 'verify'],
    ['signText', 'verifyText'],
  ]) {
    const path = (name: string | undefined) => `/addresses/${name}/${first.text}`;
    const signed = await post(path(sign), JSON.stringify({ message }), key);
    t.equal(signed.status, 200);
    const valid = (body: unknown) => post(path(verify), JSON.stringify(body), key);
    t.strictSame((await valid(signed.body)).body, { valid: true });
    const { publicKey, ...rest } = signed.body;
    t.strictSame((await valid({ ...rest, publickey: publicKey })).body, { valid: true });
    t.strictSame((await valid({ ...signed.body, signature: 'abc' })).body, { valid: false });
    t.equal((await valid({ ...signed.body, signature: '' })).body['error'], 101);
    t.equal((await valid({ ...signed.body, publicKey: '' })).body['error'], 108);
    t.equal((await valid(rest)).body['error'], 1);
  }
  const wrong = JSON.stringify({ message: 'x', password: 'wrong' });
  t.equal((await post(`/addresses/sign/${first.text}`, wrong, key)).body['error'], 115);
});

t.test('an unknown exception says nothing to the client', async (t) => {
  const view = {
    ...services.view,
    get: () => {
      throw new TypeError('secret of the house');
    },
  };
  const node = await serve({ view });
  const answer = await exchangeJson('GET', `${node.url}/addresses/balance/${first.text}`);
  t.equal(answer.status, 500);
  t.strictSame(answer.body, { error: 0, message: 'Error is unknown' });
  t.match(JSON.stringify(log.of('http.failed')), /secret of the house.*routes\.test/s);
});

t.test('the node', async (t) => {
  let stopped = 0;
  const node = { ...services.node, stop: () => void stopped++, problem: () => 'disk' };
  const running = await serve({ node });
  const status = await exchangeJson('GET', `${running.url}/node/status`);
  t.strictSame([status.status, status.body], [503, { error: 640, message: 'disk' }]);
  const headers = { 'X-API-Key': API_KEY };
  const stop = await exchangeJson('POST', `${running.url}/node/stop`, headers, '');
  t.strictSame(stop.body, { stopped: true });
  t.equal(stopped, 0, 'the answer leaves first');
  await whole.clock.advance(1);
  t.equal(stopped, 1);
  t.match((await get('/node/status')).body, { updatedDate: '2017-07-14T02:40:00.000Z' });
});
