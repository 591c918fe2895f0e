/**
 * Answers follow the interface description: every route is called on a node whose chain has objects
 * of every kind, and each answer is checked against the schema of the document.
 */
import t, { type Test } from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { apiError } from '../../src/base/errors.ts';
import { type JsonObject, stringify } from '../../src/base/json/json.ts';
import { dataDescription, dataRoutes } from '../../src/data-service/api/data-api.ts';
import { routes } from '../../src/rest/routes/index.ts';
import { openApi } from '../../src/rest-framework/openapi.ts';
import { type Populated, populated } from '../node/populated.ts';
import { type Calls, everyRoute, OF_STAKE } from '../rest/fixtures/every-route.ts';
import { Interface, interfaceOf, targetOf } from '../rest/fixtures/interface.ts';
import { call } from '../rest-cases/runner.ts';

async function served(t: Test, set: readonly string[]): Promise<Populated> {
  return populated(t, { http: httpListener, set });
}

const isEmpty = (text: string): boolean => /^(\[\]|\[\[\]\]|\{\})$/.test(text);

async function hold(t: Test, of: Populated, names: readonly string[], calls: Calls): Promise<void> {
  const url = `http://127.0.0.1:${of.node.rest!.port}`;
  const described = await interfaceOf(url);
  for (const name of names) {
    const [method, pattern] = name.split(' ') as [string, string];
    const check = described.checker(name);
    for (const { path = {}, query = '', body, status = 200, empty } of calls[name] ?? []) {
      const target = targetOf(pattern, path);
      const type = typeof body === 'string' ? 'text/plain' : 'application/json';
      const text = typeof body === 'string' ? body : body && stringify(body);
      const headers = { 'X-API-Key': keyFor(pattern, of), 'Content-Type': type };
      const answer = await call(method, url + target + query, headers, text as string);
      const what = `${method} ${target}${query}`;
      t.equal(answer.status, status, `${what}: ${answer.text.slice(0, 200)}`);
      t.strictSame(
        check(answer.status, String(answer.headers['content-type']), answer.text),
        [],
        what,
      );
      if (pattern.includes('getData')) {
        const bare = await call(method, url + target, { ...headers, Accept: 'text/plain' });
        t.strictSame(check(200, String(bare.headers['content-type']), bare.text), [], 'as text');
      }
      if (empty !== true && status === 200) t.notOk(isEmpty(answer.text), `${what} has content`);
    }
  }
}

const keyFor = (path: string, { apiKey, privacyApiKey }: Populated): string =>
  path.startsWith('/privacy') ? privacyApiKey : apiKey;

t.test('every route, under proof of authority', async (t) => {
  const of = await served(t, []);
  const calls = await everyRoute(of);
  const names = routes.map(({ method, path }) => `${method} ${path}`);
  t.strictSame(
    names.filter((name) => !(name in calls)),
    [],
    'every route has a call',
  );
  t.ok(of.byType.size >= 21, 'transactions of every type that is accepted');
  const last = 'POST /node/stop';
  await hold(t, of, [...names.filter((name) => name !== last), last], calls);
});

t.test('what differs under proof of stake', async (t) => {
  const of = await served(t, ['blockchain.consensus.type=pos']);
  const all = await everyRoute(of);
  const calls = Object.fromEntries(
    OF_STAKE.map((name) => [name, all[name]!.map(({ status: _, ...rest }) => rest)]),
  );
  await hold(t, of, OF_STAKE, calls);
});

t.test('the check finds what is wrong', async (t) => {
  const of = await served(t, []);
  const url = `http://127.0.0.1:${of.node.rest!.port}`;
  const described = await interfaceOf(url);
  const json = 'application/json';
  const balance = described.checker('GET /addresses/balance/{address}');
  t.strictSame(balance(200, json, '{"address":"x","confirmations":0,"balance":1}'), []);
  t.not(balance(200, json, '{"address":"x","confirmations":0,"balance":"1"}').length, 0);
  const more = '{"address":"x","confirmations":0,"balance":1,"unheardOf":1}';
  t.not(balance(200, json, more).length, 0, 'a member that is not described');
  const info = described.checker('GET /transactions/info/{id}');
  t.not(info(200, json, '{"type":4}').length, 0);
  t.not(info(200, 'text/html', '').length, 0);
});

t.test('a refusal of the data service, which names parameters', async (t) => {
  const described = new Interface(openApi(dataRoutes, dataDescription('1.0.0')) as JsonObject);
  const problems = { limit: 'unknown parameter' };
  const refusal = apiError('InvalidQuery').with({ validationErrors: problems });
  const check = described.checker('GET /transactions');
  t.strictSame(check(400, 'application/json', stringify(refusal.body)), []);
});
