/** For every declared route: the costliest request that its budget allows, and one step more. */

import { base58 } from '../../../src/base/base58.ts';
import { PRIVATE_DATA_BYTES_MAX } from '../../../src/base/ports/private-store.ts';
import type { JsonSchema } from '../../../src/codec/codec.ts';
import { routes } from '../../../src/rest/routes/index.ts';
import { type AnyRoute, pathNames } from '../../../src/rest-framework/route.ts';
import { budgetOf } from '../../../src/rest-framework/route-budget.ts';
import { API_KEY } from '../e2e/network-folder.ts';
import { type Attack, answerTo, tally } from './attack.ts';
import { PRIVACY_KEY, sha256, type Target } from './target.ts';

/** These end the node, or what the next attack needs. */
const LEFT_OUT = new Set(['/node/stop']);

/** The largest value of each parameter, or one that leads to most work. */
function largest(name: string, target: Target, path: string): string {
  const large: Record<string, string> = {
    from: path.startsWith('/addresses/') ? '0' : '1',
    to: path.startsWith('/addresses/') ? '1000' : '100',
    height: '1',
    confirmations: '100000',
    limit: path.startsWith('/assets/') ? '999' : '10000',
    length: '1024',
    timestamp: String(Date.now()),
    publicKey: target.publicKey,
    id: target.id,
    assetId: target.assetId,
    key: '0-0',
  };
  return large[name] ?? target.owner;
}

/** Answers that go on for ever end with what there is. */
const QUERIES: Readonly<Record<string, string>> = { '/events': '?from=1&follow=false' };

const urlOf = ({ path }: AnyRoute, target: Target): string =>
  target.rest.url +
  pathNames(path).reduce(
    (url, name) => url.replace(`{${name}}`, encodeURIComponent(largest(name, target, path))),
    path,
  ) +
  (QUERIES[path] ?? '');

/** A value of the schema with `more` elements in each list beyond what it may have. */
function fill(schema: JsonSchema, target: Target, more: number): unknown {
  const { type, items, properties, maxItems } = schema;
  if (items !== undefined) {
    const length = Number(maxItems) + more;
    return Array.from({ length }, () => fill(items as JsonSchema, target, more));
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties as Record<string, JsonSchema>);
    return Object.fromEntries(fields.map(([name, of]) => [name, fill(of, target, more)]));
  }
  if (type === 'integer') return 1;
  return type === 'boolean' ? true : target.owner;
}

/** Data of the largest size, under a hash of other data. */
const largeData = (schema: JsonSchema, target: Target): string =>
  JSON.stringify({
    ...(fill(schema, target, 0) as object),
    info: { filename: 'x', size: '1', timestamp: 1, author: '', comment: '' },
    policyId: target.item.policyId,
    hash: base58.encode(sha256(Buffer.from(target.owner))),
    type: 'file',
    version: 1,
    fee: undefined,
    feeAssetId: undefined,
    password: undefined,
    timestamp: undefined,
    data: Buffer.alloc(PRIVATE_DATA_BYTES_MAX, 'x').toString('base64'),
  });

const repeated = (piece: string, bytes: number, before: string, after: string): string =>
  before + piece.repeat(Math.floor((bytes - before.length - after.length) / piece.length)) + after;

/** The first member that is a list, for bodies of nothing but elements. */
const listIn = (schema: JsonSchema): string =>
  Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).find(
    ([, { items }]) => items !== undefined,
  )?.[0] ?? 'addresses';

/** `turn` chooses one of the bad bodies; undefined: all of them. */
function* bodiesOf(
  route: AnyRoute,
  target: Target,
  turn: number | undefined,
): Generator<readonly [string, string]> {
  if (route.body === undefined) return;
  const { bytesIn, elements } = budgetOf(route);
  const { path } = route;
  const { schema, type } = route.body;
  const list = listIn(schema);
  yield ['a body of one byte too many', ' '.repeat(bytesIn + 1)];
  if (type === 'text/plain') {
    yield ['the longest text', 'x'.repeat(bytesIn)];
    return;
  }
  if (path === '/privacy/sendData') yield ['as much data as can be', largeData(schema, target)];
  yield ['the fullest lists', JSON.stringify(fill(schema, target, 0))];
  if (elements > 0) yield ['one element more', JSON.stringify(fill(schema, target, 1))];
  const bad: (readonly [string, string])[] = [
    ['wrong elements', repeated('1,', bytesIn, `{"${list}":[`, '1]}')],
    ['empty texts', repeated('"",', bytesIn, `{"${list}":[`, '""]}')],
    ['long integers', repeated('1,', bytesIn, `{"${list}":[`, '12345678901234567]}')],
    ['a number of many digits', repeated('1', bytesIn, `{"${list}":`, '}')],
    ['brackets', '['.repeat(bytesIn)],
  ];
  yield* turn === undefined ? bad : [bad[turn % bad.length]!];
}

function attackOn(
  route: AnyRoute,
  target: Target,
  atOnce: number,
  turn: number | undefined,
): Attack[] {
  const { method, path, body, access } = route;
  const headers = {
    'x-api-key': access === 'privacyKey' ? PRIVACY_KEY : API_KEY,
    'content-type': body?.type ?? 'text/plain',
  };
  const many = (init: RequestInit): Promise<string[]> =>
    Promise.all(Array.from({ length: atOnce }, () => answerTo(urlOf(route, target), init)));
  const of = (what: string, init: RequestInit): Attack => ({
    name: `\`${method} ${path}\` ${what}`,
    send: async () => {
      const alone = await answerTo(urlOf(route, target), init);
      return tally([alone, ...(await many(init))]);
    },
  });
  if (method === 'GET') return [of('as large as can be', { headers })];
  const bodies = [...bodiesOf(route, target, turn)];
  if (bodies.length === 0) return [of('', { method, headers })];
  return bodies.map(([what, text]) => of(what, { method, headers, body: text }));
}

/** `atOnce`: on so many connections after the first one; `whole`: every bad body for every route. */
export const routeAttacks = (target: Target, atOnce: number, whole: boolean): Attack[] =>
  routes
    .filter(({ path }) => !LEFT_OUT.has(path))
    .flatMap((route, i) => attackOn(route, target, atOnce, whole ? undefined : i));
