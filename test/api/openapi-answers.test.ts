/**
 * What the node answers is what its interface description says: every route is called on a node
 * whose chain has something of everything, and each answer is held to the schema of the document.
 */
import t, { type Test } from 'tap';
import { Compile } from 'typebox/schema';
import { hyperExpress } from '../../src/adapters/hyper-express.ts';
import { routes } from '../../src/api/routes/index.ts';
import { isObject, type JsonObject, stringify } from '../../src/base/json.ts';
import { type Populated, populated } from '../node/populated.ts';
import { call } from '../rest-cases/runner.ts';
import { type Calls, everyRoute, OF_STAKE } from './every-route.ts';

type Checker = (status: number, contentType: string, text: string) => readonly string[];

/** Holds answers to the document that the node itself serves. */
class Interface {
  readonly operations = new Map<string, JsonObject>();
  private readonly components: JsonObject;

  constructor(document: JsonObject) {
    this.components = document['components'] as JsonObject;
    for (const [path, methods] of Object.entries(document['paths'] as JsonObject)) {
      for (const [method, operation] of Object.entries(methods as JsonObject)) {
        this.operations.set(`${method.toUpperCase()} ${path}`, operation as JsonObject);
      }
    }
  }

  checker(name: string): Checker {
    const operation = this.operations.get(name);
    const responses = operation?.['responses'] as JsonObject;
    const good = contentOf(responses['200']);
    const unwell: Record<number, JsonObject> =
      responses['503'] === undefined ? {} : { 503: contentOf(responses['503']) };
    const refused = contentOf((this.components['responses'] as JsonObject)['Refused']);
    return (status, contentType, text) => {
      const content = status === 200 ? good : (unwell[status] ?? refused);
      const type = contentType.split(';')[0]!;
      if (type === 'text/plain' && status === 200 && type in content) return [];
      const schema = (content[type] as JsonObject | undefined)?.['schema'];
      if (schema === undefined) return [`no answer of type ${type} is described`];
      const [, problems] = this.compile(schema as JsonObject).Errors(JSON.parse(text));
      return problems.map(({ instancePath, message }) => `${instancePath} ${message}`);
    };
  }

  /** With the components beside it, where references of the document look for them. */
  private compile(schema: JsonObject) {
    return Compile({ ...schema, components: this.components });
  }
}

const contentOf = (response: unknown): JsonObject =>
  isObject(response) && isObject(response['content']) ? response['content'] : {};

async function served(t: Test, set: readonly string[]): Promise<Populated> {
  return populated(t, { http: hyperExpress, set });
}

const isEmpty = (text: string): boolean => /^(\[\]|\[\[\]\]|\{\})$/.test(text);

async function hold(t: Test, of: Populated, names: readonly string[], calls: Calls): Promise<void> {
  const url = `http://127.0.0.1:${of.node.rest!.port}`;
  const document = await call('GET', `${url}/api-docs/swagger.json`);
  const described = new Interface(JSON.parse(document.text));
  for (const name of names) {
    const [method, pattern] = name.split(' ') as [string, string];
    const check = described.checker(name);
    for (const { path = {}, query = '', body, status = 200, empty } of calls[name] ?? []) {
      const target = pattern.replace(/\{(\w+)\}/g, (_, key: string) =>
        encodeURIComponent(String(path[key])),
      );
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
  const document = await call('GET', `${url}/api-docs/swagger.json`);
  const described = new Interface(JSON.parse(document.text));
  const json = 'application/json';
  const balance = described.checker('GET /addresses/balance/{address}');
  t.strictSame(balance(200, json, '{"address":"x","confirmations":0,"balance":1}'), []);
  t.not(balance(200, json, '{"address":"x","confirmations":0,"balance":"1"}').length, 0);
  const info = described.checker('GET /transactions/info/{id}');
  t.not(info(200, json, '{"type":4}').length, 0);
  t.not(info(200, 'text/html', '').length, 0);
});
