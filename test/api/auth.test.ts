// Who may call what.
import t from 'tap';
import { exchangeJson } from './fixtures/exchange-json.ts';
import { memoryNode } from './fixtures/memory-node.ts';

const whole = await memoryNode(t);
const { get, post, accounts, serve, apiKey: API_KEY, privacyApiKey: PRIVACY_KEY } = whole;
const [first] = accounts;
const { settings } = whole.node.services;

t.test('keys', async (t) => {
  const sign = `/addresses/signText/${first.text}`;
  const wrong = { error: 2, message: 'Provided API key is not correct' };
  const tries: readonly (readonly [headers: Record<string, string>, status: number])[] = [
  const missing = { error: 2, message: 'No API key was given: send it in the header X-API-Key' };
  const noPrivacyKey = 'No privacy API key was given: send it in the header X-API-Key';
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
  const keyed = { 'X-Forwarded-For': '10.0.0.1', 'X-API-Key': API_KEY };
  t.equal((await post(path, '', keyed)).status, 200);
});

t.test('without configured hashes nobody passes', async (t) => {
  const bare = { ...settings, apiKeyHash: undefined, privacyApiKeyHash: undefined };
  const locked = await serve({ settings: { ...bare, cryptoApiKey: true } });
  for (const path of [`/addresses/sign/${first.text}`, '/privacy/forceSync', '/crypto/decrypt']) {
    for (const headers of [{}, { 'X-API-Key': API_KEY }, { 'X-API-Key': 'undefined' }]) {
      t.equal((await exchangeJson('POST', locked + path, headers, '{}')).status, 403);
    }
  }
  const fallen = await serve({ settings: { ...settings, privacyApiKeyHash: undefined } });
  const headers = { 'X-API-Key': API_KEY };
  const answer = await exchangeJson('POST', `${fallen}/privacy/forceSync`, headers, '');
  t.equal(answer.body['error'], 613, 'the general key stands in for the privacy key');
});
