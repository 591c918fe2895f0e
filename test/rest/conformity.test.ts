// Row R8 of the reliability goals: every documented operation is called with arguments made from
// its own description. Every answer follows the description, undescribed fields have no effect, and
// values of a wrong type are refused with an error of the catalogue. CONFORMITY_CASES sets how many
// calls of each kind an operation gets.
import fc from 'fast-check';
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { catalogue } from '../../src/base/errors.ts';
import { isObject, type JsonObject, stringify } from '../../src/base/json/json.ts';
import { withHttpThreads } from '../http-threads.ts';
import { populated } from '../node/populated.ts';
import { call, type RawAnswer } from '../rest-cases/runner.ts';
import { type Call, everyRoute } from './fixtures/every-route.ts';
import { Values, wrong } from './fixtures/from-schema.ts';
import { headProblems } from './fixtures/head.ts';
import { interfaceOf, targetOf } from './fixtures/interface.ts';

const CASES = Number(process.env['CONFORMITY_CASES'] ?? 4);
/** Far above what it takes on a machine that does nothing else. */
const MS_PER_CASE_MAX = 1000;
const START_MS_MAX = 120_000;
/** Ends the node. */
const LAST = 'POST /node/stop';
/** What they answer depends on how often they were called. */
const ONCE = new Set(['POST /transactions/broadcast', 'POST /transactions/signAndBroadcast']);
const UNCODED = 400;
const codes = new Set(Object.values(catalogue).map(({ code, status }) => `${status}/${code}`));

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: JsonObject;
}

interface Made {
  readonly path: Readonly<Record<string, string | number>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

const of = await populated(t, { http: httpListener, around: withHttpThreads });
const url = `http://127.0.0.1:${of.node.rest!.port}`;
const described = await interfaceOf(url);
const calls = await everyRoute(of);
const names = [...described.operations.keys()].filter((name) => name in calls && name !== LAST);
const values = new Values(described.components, knownValues(Object.values(calls).flat()));

t.setTimeout(START_MS_MAX + names.length * CASES * MS_PER_CASE_MAX);

t.test(`${CASES} generated calls of every operation`, async (t) => {
  for (const name of names) {
    const problems: string[] = [];
    for (const made of fc.sample(madeFor(name), { numRuns: CASES, seed: 1 })) {
      problems.push(...problemsOf(name, await send(name, made), made));
    }
    t.strictSame(problems, [], name);
  }
});

t.test('fields and parameters that are not described change nothing', async (t) => {
  for (const name of names.filter((name) => !ONCE.has(name))) {
    const given = calls[name]![0]!;
    const plain = await send(name, asMade(given));
    const made = asMade(given);
    const more = isObject(made.body) ? { ...made.body, unheardOf: { a: [1] } } : made.body;
    const answer = await send(name, {
      ...made,
      body: more,
      query: { ...made.query, unheard: '1' },
    });
    t.equal(answer.status, plain.status, `${name}: ${answer.text.slice(0, 200)}`);
    t.strictSame(problemsOf(name, answer, made), [], name);
  }
});

t.test('HEAD has status and headers of GET', async (t) => {
  const pages = [
    '/api-docs',
    '/api-docs/swagger.json',
    '/explorer',
    '/explorer/app.js',
    '/nowhere',
  ];
  const gets = names.filter((name) => name.startsWith('GET '));
  t.ok(gets.length > 50);
  for (const name of [...gets, ...pages.map((path) => `GET ${path}`)]) {
    const made = asMade(calls[name]?.[0] ?? {});
    const problems = await headProblems((method) => send(name.replace('GET', method), made));
    t.strictSame(problems, [], name);
  }
});

t.test('values of another type are refused', async (t) => {
  for (const name of names) {
    const given = asMade(calls[name]![0]!);
    const problems: string[] = [];
    for (const made of [...wrongBodies(name, given), ...wrongPaths(name, given)].slice(
      0,
      CASES * 8,
    )) {
      const answer = await send(name, made);
      if (answer.status === 200) problems.push(`accepted ${stringify({ ...made })}`);
      problems.push(...problemsOf(name, answer, made));
    }
    t.strictSame(problems, [], name);
  }
});

/** Arguments from the description of an operation. */
function madeFor(name: string): fc.Arbitrary<Made> {
  const parameters = parametersOf(name);
  const schema = bodySchema(name);
  const among = (place: Parameter['in']) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    // An empty part of a path is another path.
    const isPossible = (value: unknown): boolean => place === 'query' || value !== '';
    const fields = own.map(
      ({ name, schema }) => [name, values.allowed(schema, name).filter(isPossible)] as const,
    );
    const requiredKeys = own.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(Object.fromEntries(fields), { requiredKeys });
  };
  return fc.record({
    path: among('path') as fc.Arbitrary<Made['path']>,
    query: among('query') as fc.Arbitrary<Made['query']>,
    body: schema === undefined ? fc.constant(undefined) : values.allowed(schema),
  });
}

/** The known call with one field of its body replaced at a time. */
function wrongBodies(name: string, given: Made): Made[] {
  const { body } = given;
  const schema = bodySchema(name);
  if (schema === undefined || !isObject(body)) return [];
  return Object.entries(values.fieldsOf(schema)).flatMap(([field, described]) =>
    wrong(described).map((value) => ({ ...given, body: { ...body, [field]: value } })),
  );
}

function wrongPaths(name: string, given: Made): Made[] {
  const numbers = parametersOf(name).filter(
    (parameter) => parameter.in === 'path' && parameter.schema['type'] === 'integer',
  );
  return numbers.flatMap(({ name }) =>
    ['x', '1.5', '-1', '9'.repeat(25)].map((text) => ({
      ...given,
      path: { ...given.path, [name]: text },
    })),
  );
}

function problemsOf(name: string, { status, headers, text }: RawAnswer, made: Made): string[] {
  // Some refusals have a text instead of a code, and clients rely on their being answered with 200.
  const isUncoded = text.startsWith('{"status":"error"');
  const asStatus = isUncoded && status === 200 ? UNCODED : status;
  const found = [...described.checker(name)(asStatus, String(headers['content-type']), text)];
  if (status !== 200 && !isUncoded && !name.includes('/health/')) {
    const { error } = JSON.parse(text) as { error: unknown };
    const isText = name.includes('/utils/script/') && typeof error === 'string';
    if (!isText && !codes.has(`${status}/${error}`))
      found.push(`${status}/${error} is not in the catalogue`);
  }
  const what = `${stringify({ ...made })}: ${status} ${text.slice(0, 200)}`;
  return found.slice(0, 3).map((problem) => `${problem}: ${what}`);
}

function send(name: string, { path, query, body }: Made): Promise<RawAnswer> {
  const [method, pattern] = name.split(' ') as [string, string];
  const pairs = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const key = pattern.startsWith('/privacy') ? of.privacyApiKey : of.apiKey;
  const headers = { 'X-API-Key': key, 'Content-Type': type };
  const sent = body === undefined || typeof body === 'string' ? body : stringify(body);
  return call(method, url + targetOf(pattern, path) + search, headers, sent);
}

function asMade({ path = {}, query = '', body }: Call): Made {
  return { path, query: Object.fromEntries(new URLSearchParams(query)), body };
}

function parametersOf(name: string): Parameter[] {
  return (described.operations.get(name)?.['parameters'] ?? []) as unknown as Parameter[];
}

function bodySchema(name: string): JsonObject | undefined {
  const body = described.operations.get(name)?.['requestBody'];
  // One GET takes a body, and turns into another operation with it (test/rest/routes/address-balances.test.ts).
  if (!isObject(body) || name.startsWith('GET')) return undefined;
  const [content] = Object.values(body['content'] as Record<string, JsonObject>);
  return content?.['schema'] as JsonObject | undefined;
}

/** Every value of a known call, under the name that it has there. */
function knownValues(all: readonly Call[]): Map<string, unknown[]> {
  const known = new Map<string, unknown[]>();
  const note = (name: string, value: unknown): void => {
    const list = known.get(name) ?? [];
    if (list.length < 20) known.set(name, [...list, value]);
  };
  for (const { path = {}, body } of all) {
    const fields = isObject(body) ? body : {};
    for (const [name, value] of Object.entries({ ...path, ...fields })) note(name, value);
  }
  return known;
}
