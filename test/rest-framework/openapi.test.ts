// The interface description: complete, valid, and shown by a page that loads nothing from other
// hosts.
import { Script } from 'node:vm';
import t from 'tap';
import { isObject, type JsonObject, parse } from '../../src/base/json/json.ts';
import { createApi } from '../../src/rest/api.ts';
import { routes } from '../../src/rest/routes/index.ts';
import { pathNames } from '../../src/rest-framework/route.ts';
import { memoryNode } from '../rest/fixtures/memory-node.ts';
import { loadCases } from '../rest-cases/cases.ts';
import { call } from '../rest-cases/runner.ts';

const { url, node } = await memoryNode(t);

const mounted = createApi(node.services);
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
    const isOpen = JSON.stringify(operation?.['security']) === '[]';
    t.equal(isOpen, route.access === 'public');
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

t.test('the recommended rules of linters of such descriptions', async (t) => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation,
    })),
  );
  const failing = (passes: (operation: JsonObject) => boolean): string[] =>
    operations.filter(({ operation }) => !passes(operation)).map(({ name }) => name);
  t.strictSame(
    failing(({ responses }) => '4XX' in (responses as JsonObject)),
    [],
    'every operation describes its refusals',
  );
  t.strictSame(
    failing(({ security }) => Array.isArray(security)),
    [],
    'every operation says which key it needs, or that it needs none',
  );
  const tags = document['tags'] as { name: string; description: string }[];
  t.strictSame(
    tags.filter(({ name, description }) => description === name),
    [],
    'every group is described',
  );
});

// Clients of this kind of network call these paths, so they stay. No request fits both: what fills a
// parameter is the Base58 of an id, a hash or an address, which no word of a path is.
t.test('paths that templates alone do not tell apart', async (t) => {
  const templates = Object.keys(paths).filter((path) => path.includes('{'));
  const both = templates.flatMap((one, index) =>
    templates.slice(index + 1).filter((other) => ambiguous(one, other)),
  );
  for (const path of both) t.match(path, /^\/(assets|blocks|privacy)\/[^/]+\/[^/]+$/);
});

/** Both have as many parameters, and no step that differs where neither has one. */
function ambiguous(one: string, other: string): boolean {
  const [left, right] = [one.split('/'), other.split('/')];
  if (left.length !== right.length || pathNames(one).length !== pathNames(other).length)
    return false;
  const isParameter = (step: string | undefined): boolean => step?.startsWith('{') === true;
  return left.every((step, i) => step === right[i] || isParameter(step) || isParameter(right[i]));
}

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

t.test('no object that may have no members', async (t) => {
  // Generators of clients read it so where nothing is said of its members.
  const closed: unknown[] = [];
  const says = ['properties', 'patternProperties', 'additionalProperties'];
  walk(document['components'], (node) => {
    if (node['type'] === 'object' && !says.some((key) => key in node)) closed.push(node);
  });
  t.strictSame(closed, []);
});
