// The interface description: complete, sound, and shown by a page that needs nobody else.
import { Script } from 'node:vm';
import t from 'tap';
import { createApi } from '../../src/api/api.ts';
import { pathNames } from '../../src/api/route.ts';
import { routes } from '../../src/api/routes/index.ts';
import { isObject, type JsonObject, parse } from '../../src/base/json.ts';
import { transactionSchemas } from '../../src/tx/openapi.ts';
import { loadCases } from '../rest-cases/cases.ts';
import { call } from '../rest-cases/runner.ts';
import { serve, stubServices } from './stub-node.ts';

const { server, url } = await serve();
t.teardown(() => server.close());

const mounted = createApi(stubServices(), { schemas: transactionSchemas() });
const served = mounted.find(({ pattern }) => pattern === '/api-docs/swagger.json');
const reply = served?.handle(undefined as never, undefined) as { body: string };
const document = parse(reply.body) as JsonObject;
const paths = document['paths'] as Record<string, Record<string, JsonObject>>;

t.test('the document', async (t) => {
  t.match(document, {
    openapi: '3.1.0',
    info: { title: 'platform-node', version: '1.1.0' },
    servers: [{ url: '/' }],
    components: {
      securitySchemes: { 'API-Key': { type: 'apiKey', name: 'X-API-Key', in: 'header' } },
    },
  });
  for (const route of routes) {
    const operation = paths[route.path]?.[route.method.toLowerCase()];
    t.ok(operation, `${route.method} ${route.path}`);
    t.equal(operation?.['security'] === undefined, route.access === 'public');
  }
});

t.test('every reference leads somewhere', async (t) => {
  const missing = new Set<string>();
  walk(document, (node) => {
    const { $ref } = node;
    if (typeof $ref === 'string' && resolve($ref) === undefined) missing.add($ref);
  });
  t.strictSame([...missing], []);
});

function resolve(ref: string): unknown {
  const steps = ref.split('/').slice(1);
  return steps.reduce<unknown>((node, step) => (isObject(node) ? node[step] : undefined), document);
}

function walk(value: unknown, visit: (node: JsonObject) => void): void {
  if (isObject(value)) visit(value);
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) walk(item, visit);
  }
}

t.test('operations', async (t) => {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
  const ids = all.map(({ operation }) => operation['operationId']);
  t.equal(new Set(ids).size, ids.length, 'their ids are unique');
  for (const { path, operation } of all) {
    const parameters = (operation['parameters'] ?? []) as { name: string; in: string }[];
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    t.strictSame(
      inPath.map(({ name }) => name),
      pathNames(path),
      path,
    );
    t.match(operation['summary'], /[.!]$/, 'a sentence says what it does');
  }
});

t.test('every path of the conformance cases is described', async (t) => {
  const known = Object.keys(paths).map(
    (path) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}/?$`),
  );
  const unknown = loadCases()
    .filter(({ expectStatus }) => expectStatus === 200)
    .map(({ path }) => path.split('?')[0]!)
    .filter((path) => !path.startsWith('/api-docs') && !known.some((test) => test.test(path)));
  t.strictSame(unknown, []);
});

t.test('pages', async (t) => {
  for (const path of ['/', '/swagger', '/api-docs', '/api-docs/']) {
    const moved = await call('GET', url + path);
    t.strictSame([moved.status, moved.headers['location']], [308, '/api-docs/index.html']);
  }
  for (const path of ['/api-docs/swagger.json', '/api-docs/open-api.json']) {
    const { status, headers } = await call('GET', url + path);
    t.strictSame([status, headers['content-type']], [200, 'application/json']);
  }
  const page = await call('GET', `${url}/api-docs/index.html`);
  t.match(page.headers['content-type'], 'text/html');
  t.match(page.headers['content-security-policy'], /default-src 'none'; script-src 'self'/);
  t.notMatch(page.text, /https?:\/\//, 'nothing from other hosts');
  t.notMatch(page.text, /<script>|<style>|style=|\son\w+=/, 'nothing inline');
  const script = await call('GET', `${url}/api-docs/page.js`);
  t.ok(new Script(script.text), 'the script is one');
  t.notMatch(script.text, /innerHTML|insertAdjacentHTML|eval\(|https?:\/\//);
  const style = await call('GET', `${url}/api-docs/page.css`);
  t.match(style.headers['content-type'], 'text/css');
});
