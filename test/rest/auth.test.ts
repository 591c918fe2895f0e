// Who may call what.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import type { HttpRequest } from '../../src/base/ports/http.ts';
import { keySettings } from '../../src/node/api-settings.ts';
import { AccessKeys, type KeySettings } from '../../src/rest/access-keys.ts';
import { requireSigner } from '../../src/rest/guards.ts';
import { ask } from '../adapters/http/raw-socket.ts';
import { exchangeJson } from './fixtures/exchange-json.ts';
import { memoryNode } from './fixtures/memory-node.ts';

const whole = await memoryNode(t);
const { get, post, accounts, serve, apiKey: API_KEY, privacyApiKey: PRIVACY_KEY } = whole;
const [first] = accounts;
const { settings, family: hashes } = whole.node.services;

/** The keys of the node, changed. */
const keysWith = (changes: Partial<KeySettings>): AccessKeys =>
  new AccessKeys({ ...keySettings(whole.config), ...changes }, hashes, () => whole.clock.now());

t.test('keys', async (t) => {
  const sign = `/addresses/signText/${first.text}`;
  const wrong = { error: 2, message: 'Provided API key is not correct' };
  const missing = { error: 2, message: 'No API key was given: send it in the header X-API-Key' };
  const noPrivacyKey = 'No privacy API key was given: send it in the header X-API-Key';
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
    const given = Object.values(headers).some((key) => key !== '');
    if (status === 403) t.strictSame(answer.body, given ? wrong : missing);
  }
  const force = (key: string) => post('/privacy/forceSync', '', { 'X-API-Key': key });
  t.equal((await force(API_KEY)).body['error'], 613);
  t.equal((await force(PRIVACY_KEY)).body['error'], 613);
  t.strictSame((await force('x')).body, {
    error: 614,
    message: 'Provided privacy API key is not correct',
  });
  for (const key of ['', undefined]) {
    const headers: Record<string, string> = key === undefined ? {} : { 'X-API-Key': key };
    const answer = await post('/privacy/forceSync', '', headers);
    t.equal(answer.status, 403);
    t.strictSame(answer.body, { error: 614, message: noPrivacyKey });
  }
  const data = (key: string) => get(`/privacy/getData/${'a'.repeat(64)}`, { 'X-API-Key': key });
  t.equal((await data(API_KEY)).body['error'], 614);
  t.equal((await data(PRIVACY_KEY)).body['error'], 613);
});

t.test('reload-wallet', async (t) => {
  const path = '/utils/reload-wallet';
  t.equal((await post(path)).status, 200, 'from this machine');
  t.equal((await post(path, '', { 'X-Forwarded-For': '10.0.0.1' })).status, 403);
  t.equal((await post(path, '', { Forwarded: 'for=10.0.0.1' })).status, 403);
  const traces = ['Via', 'X-Real-IP', 'X-Forwarded-Proto', 'X-Client-IP', 'CF-Connecting-IP'];
  for (const name of [...traces, 'Forwarded', 'X-Envoy-Internal', 'Sec-Fetch-Site', 'Referer']) {
    for (const value of ['1.1 proxy', '']) {
      t.equal((await post(path, '', { [name]: value })).status, 403, `${name}: ${value}`);
    }
    const withKey = { [name]: '1.1 proxy', 'X-API-Key': API_KEY };
    t.equal((await post(path, '', withKey)).status, 200, `${name} with the key`);
  }
  const keyed = { 'X-Forwarded-For': '10.0.0.1', 'X-API-Key': API_KEY };
  t.equal((await post(path, '', keyed)).status, 200);
});

t.test('reload-wallet from a page in a browser of this machine', async (t) => {
  const named = await serve({
    settings: { ...settings, ownNames: ['node-1.example', '10.0.0.7'] },
  });
  const port = Number(new URL(named).port);
  const status = async (...headers: readonly string[]): Promise<number> => {
    const head = ['POST /utils/reload-wallet HTTP/1.1', ...headers, 'Content-Length: 0'];
    return (await ask(port, head.join('\n'))).status;
  };
  const own = ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'LOCALHOST', 'localhost.'];
  for (const host of [...own, 'node-1.example', 'Node-1.Example', '10.0.0.7']) {
    t.equal(await status(`Host: ${host}`), 200, host);
    t.equal(await status(`Host: ${host}:${port}`), 200, `${host} with a port`);
    for (const origin of [`http://${host}:${port}`, 'null', 'https://evil.example', '']) {
      t.equal(await status(`Host: ${host}`, `Origin: ${origin}`), 403, `origin ${origin}`);
    }
  }
  const foreign = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.8'];
  for (const host of [...foreign, '0.0.0.0', '[::]', 'node-1', 'localhost, evil.example']) {
    t.equal(await status(`Host: ${host}`), 403, host);
    t.equal(await status(`Host: ${host}`, `X-API-Key: ${API_KEY}`), 200, `${host} with the key`);
  }
  t.not(await status('Host: evil.example', 'Host: localhost'), 200, 'two hosts');
  t.not(await status('Host: localhost', 'Host: evil.example'), 200, 'two hosts');
});

t.test('without configured hashes nobody passes', async (t) => {
  const keys = keysWith({ apiKeyHash: undefined, privacyApiKeyHash: undefined });
  const locked = await serve({ keys, settings: { ...settings, cryptoApiKey: true } });
  for (const path of [`/addresses/sign/${first.text}`, '/privacy/forceSync', '/crypto/decrypt']) {
    for (const headers of [{}, { 'X-API-Key': API_KEY }, { 'X-API-Key': 'undefined' }]) {
      t.equal((await exchangeJson('POST', locked + path, headers, '{}')).status, 403);
    }
  }
  const fallen = await serve({ keys: keysWith({ privacyApiKeyHash: undefined }) });
  const headers = { 'X-API-Key': API_KEY };
  const answer = await exchangeJson('POST', `${fallen}/privacy/forceSync`, headers, '');
  t.equal(answer.body['error'], 613, 'the general key stands in for the privacy key');
});

t.test('keys with names do what their scopes say', async (t) => {
  const { family } = whole.node.services;
  const [, second] = accounts;
  const hash = (key: string) => base58.encode(family.secureHash(utf8(key)));
  const now = whole.clock.now();
  const named = (name: string, scopes: readonly string[], expires?: number) => ({
    ...{ name, scopes, hash: hash(`of ${name}`) },
    ...(expires === undefined ? {} : { expires }),
  });
  const apiKeys = [
    named('reader', ['read']),
    named('signer', [`sign:${first.text}`]),
    named('both', ['sign', 'read']),
    named('privacy', ['privacy']),
    named('data', ['privacy', `sign:${first.text}`]),
    named('peers', ['peers']),
    named('admin', ['admin']),
    named('late', ['admin'], now - 1),
    named('early', ['admin'], now + 3_600_000),
  ];
  const keys = keysWith({ apiKeys });
  const url = await serve({ keys, settings: { ...settings, cryptoApiKey: true } });
  const status = async (path: string, name: string, body = '{}'): Promise<unknown> => {
    const headers = { 'X-API-Key': `of ${name}`, 'X-Forwarded-For': '10.0.0.1' };
    const answer = await exchangeJson('POST', url + path, headers, body);
    return answer.status === 403 ? answer.body['message'] : 'passed';
  };
  const places: readonly (readonly [path: string, scope: string, who: readonly string[]])[] = [
    [`/addresses/verifyText/${first.text}`, 'read', ['reader', 'both']],
    ['/transactions/sign', 'sign', ['signer', 'both', 'data']],
    ['/transactions/signAndBroadcast', 'sign', ['signer', 'both', 'data']],
    [`/addresses/sign/${first.text}`, 'sign', ['signer', 'both', 'data']],
    ['/crypto/decrypt', 'sign', ['signer', 'both', 'data']],
    ['/privacy/forceSync', 'privacy', ['privacy', 'data']],
    ['/privacy/sendData', 'privacy', ['privacy', 'data']],
    ['/peers/clearblacklist', 'peers', ['peers']],
    ['/utils/reload-wallet', 'admin', ['admin', 'early']],
  ];
  for (const [path, scope, who] of places) {
    for (const { name } of apiKeys) {
      const wrong = `The API key '${name}' does not have the scope ${scope}`;
      const refused = name === 'late' ? "The API key 'late' has expired" : wrong;
      t.equal(await status(path, name), who.includes(name) ? 'passed' : refused, path);
    }
    t.match(await status(path, 'nobody'), /^Provided (privacy )?API key is not correct$/);
  }
  const general = { 'X-API-Key': API_KEY, 'X-Forwarded-For': '10.0.0.1' };
  t.equal((await exchangeJson('POST', `${url}/utils/reload-wallet`, general, '')).status, 200);

  const message = JSON.stringify({ message: 'text' });
  const other = `The API key 'signer' does not have the scope sign:${second!.text}`;
  const transfer = (sender: string) =>
    JSON.stringify({
      type: 4,
      version: 2,
      sender,
      recipient: first.text,
      amount: 1,
      fee: 1_000_000,
    });
  const encrypted = (sender: string) =>
    JSON.stringify({ sender, encryptionText: 'x', recipientsPublicKeys: [] });
  const signing: readonly (readonly [(account: { readonly text: string }) => string, Body])[] = [
    [({ text }) => `/addresses/sign/${text}`, () => message],
    [({ text }) => `/addresses/signText/${text}`, () => message],
    [() => '/transactions/sign', transfer],
    [() => '/transactions/signAndBroadcast', transfer],
    [() => '/crypto/encryptSeparate', encrypted],
    [() => '/crypto/encryptCommon', encrypted],
  ];
  for (const [path, body] of signing) {
    const at = path(second!);
    t.equal(await status(path(first), 'signer', body(first.text)), 'passed', at);
    t.equal(await status(at, 'signer', body(second!.text)), other, at);
    t.equal(await status(at, 'both', body(second!.text)), 'passed', at);
  }
});

t.test('who sends confidential data signs, and pays', async (t) => {
  const { family } = whole.node.services;
  const hash = (key: string) => base58.encode(family.secureHash(utf8(key)));
  const apiKeys = [
    { name: 'privacy', scopes: ['privacy'], hash: hash('of privacy') },
    { name: 'data', scopes: ['privacy', `sign:${first.text}`], hash: hash('of data') },
  ];
  const url = await serve({ keys: keysWith({ apiKeys }) });
  const info = { filename: 'f', size: 1, timestamp: 1, author: 'a', comment: '' };
  const data = { sender: first.text, policyId: first.text, info, data: 'AA==', hash: 'x' };
  const body = JSON.stringify(data);
  const answer = async (key: string) => {
    const path = `${url}/privacy/sendData`;
    return (await exchangeJson('POST', path, { 'X-API-Key': key }, body)).body['message'];
  };
  const lacks = `The API key 'privacy' does not have the scope sign:${first.text}`;
  t.equal(await answer('of privacy'), lacks);
  t.notMatch(await answer('of data'), /API key/);
  t.notMatch(await answer(PRIVACY_KEY), /API key/, 'the key without a name');
});

t.test('keys are replaced while the node runs', async (t) => {
  const hash = (key: string) => base58.encode(hashes.secureHash(utf8(key)));
  const named = (name: string) => ({ name, scopes: ['admin'], hash: hash(`of ${name}`) });
  const keys = keysWith({ apiKeys: [named('first')] });
  const url = await serve({ keys });
  const status = async (key: string): Promise<number> => {
    const headers = { 'X-API-Key': key, 'X-Forwarded-For': '10.0.0.1' };
    return (await exchangeJson('POST', `${url}/utils/reload-wallet`, headers, '')).status;
  };
  t.strictSame([await status('of first'), await status('of second')], [200, 403]);
  const next = { ...keySettings(whole.config), apiKeyHash: hash('of all') };
  keys.replace({ ...next, apiKeys: [named('second')] });
  t.strictSame([await status('of first'), await status('of second')], [403, 200]);
  t.strictSame([await status(API_KEY), await status('of all')], [403, 200]);
  t.throws(() => keys.replace({ ...next, apiKeyHash: '0' }));
  t.strictSame(
    [await status(API_KEY), await status('of all')],
    [403, 200],
    'what is wrong is not taken',
  );
});

t.test('a key that was taken back after its guard had let it pass', async (t) => {
  const apiKeys = [
    {
      name: 'signer',
      scopes: [`sign:${first.text}`],
      hash: base58.encode(hashes.secureHash(utf8('s'))),
    },
  ];
  const keys = keysWith({ apiKeys });
  const request = { header: (name: string) => (name === 'x-api-key' ? 's' : '') } as HttpRequest;
  const { scheme } = whole.node.services;
  const address = scheme.addressFromText(first.text);
  requireSigner(request, address, { keys, scheme });
  keys.replace({ ...keySettings(whole.config), apiKeys: [] });
  t.throws(() => requireSigner(request, address, { keys, scheme }), { code: 2 });
});

type Body = (address: string) => string;
