// The explorer as files: small, self-contained, and exact with numbers.
import fc from 'fast-check';
import t from 'tap';
import { parse, stringify } from '../../../src/base/json/json.ts';
import { readDataPages, readPages } from '../../../src/cli/page-files.ts';
import { createApi } from '../../../src/rest/api.ts';
import type { Answer } from '../../../src/rest-framework/answer.ts';
import { wholeNode } from '../../node/in-process.ts';

const BYTES_MAX = 64 * 1024;
/** With the pages of the data service. */
const SEARCH_BYTES_MAX = 96 * 1024;
const pages = readPages();
const files = pages.explorer;
const textOf = (name: string): string => new TextDecoder().decode(files.get(name));
const folder = new URL('../../../src/rest/explorer/page/', import.meta.url);
const json = await import(new URL('json.js', folder).href);
const format = await import(new URL('format.js', folder).href);

t.test('files', async (t) => {
  const sizeOf = (all: typeof files): number =>
    [...all.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  const searchable = readDataPages().explorer;
  t.ok(sizeOf(files) < BYTES_MAX, `${sizeOf(files)} bytes`);
  t.ok(sizeOf(searchable) < SEARCH_BYTES_MAX, `${sizeOf(searchable)} bytes`);
  for (const [name, bytes] of searchable) {
    const text = new TextDecoder().decode(bytes).replace('http://www.w3.org/2000/svg', '');
    t.notMatch(text, /https?:\/\//, `${name} names no other host`);
    t.notMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|eval\(|new Function/, name);
  }
  t.notMatch(textOf('index.html'), /<style|style=|\son\w+=|<script>/, 'nothing inline');
  t.match(textOf('index.html'), /href="api-docs\/index.html"/, 'a way to the description');
});

t.test('routes', async (t) => {
  const { node } = await wholeNode(t);
  const routes = createApi(node.services, pages);
  const get = (path: string): Answer =>
    routes.find(({ pattern }) => pattern === path)?.handle(undefined as never, undefined) as Answer;
  t.equal(get('/').headers[0]?.[1], '/api-docs/index.html', 'the root stays as it was');
  const page = get('/explorer');
  t.match(page, { status: 200, type: 'text/html; charset=utf-8' });
  const headers = Object.fromEntries(page.headers);
  t.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self';/);
  t.notMatch(headers['content-security-policy'], /unsafe|\*|http/);
  for (const [, name] of textOf('index.html').matchAll(/"explorer\/([\w.]+)"/g)) {
    t.equal(get(`/explorer/${name}`)?.status, 200, String(name));
  }
  for (const [, name] of [...files.keys()].flatMap((file) => [
    ...textOf(file).matchAll(/from '\.\/([\w.]+)'/g),
  ])) {
    t.match(get(`/explorer/${name}`), { type: 'text/javascript; charset=utf-8' }, String(name));
  }
  t.match(get('/explorer/'), { status: 308 });
  const docs = new TextDecoder().decode(get('/api-docs/index.html').body as Uint8Array);
  t.match(docs, 'href="../explorer"', 'the description leads here');
});

t.test('JSON keeps every digit', async (t) => {
  const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const value = fc.dictionary(
    fc.string(),
    fc.oneof(integer, fc.string(), fc.array(integer), fc.constantFrom(true, null, '#1', '##')),
  );
  fc.assert(
    fc.property(value, (value) => {
      const text = stringify(value);
      t.strictSame(json.parse(text), parse(text));
      t.strictSame(parse(json.print(json.parse(text))), parse(text));
    }),
    { numRuns: 300 },
  );
  const tricky =
    '{"a":"1234567890123456789\\"","#":"#1234567890123456789","b":-9223372036854775808}';
  t.strictSame(json.parse(tricky), parse(tricky));
});

t.test('amounts', async (t) => {
  const shown = (units: unknown, decimals: number): string =>
    format.amountParts(units, decimals).join('');
  t.equal(shown(9_223_372_036_854_775_807n, 8), '92,233,720,368.54775807');
  t.equal(shown(9_223_372_036_854_775_807n, 0), '9,223,372,036,854,775,807');
  t.equal(shown(0, 8), '0.00000000');
  t.equal(shown(1, 8), '0.00000001');
  t.equal(shown(-123_456_789, 2), '-1,234,567.89');
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.nat(8), (units, decimals) => {
      t.equal(BigInt(shown(units, decimals).replace(/[,.]/g, '')), units);
    }),
  );
});

t.test('texts in Base58 and ages', async (t) => {
  t.equal(format.readable('2NEpo7TZRRrLZSi2U'), 'Hello World!');
  t.equal(format.readable('0OIl'), undefined);
  t.equal(format.readable('1'), undefined, 'a control character is no text');
  t.equal(format.age(1000, 1000), 'now');
  t.equal(format.age(0, 119_000), '1 min ago');
  t.equal(format.age(5000, 0), 'in 5 s');
});
