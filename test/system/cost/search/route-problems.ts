/**
 * Bodies of requests, handled by the routes of a whole node in this process. Each route begins with
 * the calls that it is known to answer, and with lists, texts and numbers of every length.
 */

import { systemClock } from '../../../../src/adapters/system.ts';
import { base58 } from '../../../../src/base/base58.ts';
import { parse, stringify } from '../../../../src/base/json/json.ts';
import type { HttpRequest } from '../../../../src/base/ports/http.ts';
import { createApi } from '../../../../src/rest/api.ts';
import { routes } from '../../../../src/rest/routes/index.ts';
import { type AnyRoute, pathNames, pathPattern } from '../../../../src/rest-framework/route.ts';
import { budgetOf } from '../../../../src/rest-framework/route-budget.ts';
import { txToJson } from '../../../../src/tx/json/encode.ts';
import { populated } from '../../../node/populated.ts';
import { type Call, everyRoute } from '../../../rest/fixtures/every-route.ts';
import type { Vocabulary } from './mutation.ts';
import type { Problem } from './problem.ts';
import type { Recipe } from './recipe.ts';

const node = await populated({ teardown: () => {} });
const { apiKey, privacyApiKey, scheme } = node;
const calls = await everyRoute(node);
const mounted = createApi({ ...node.node.services, clock: systemClock() });
const publicKey = base58.encode(node.accounts[0].publicKey);
const { text: address } = node.accounts[0];

const vocabulary: Vocabulary = {
  parts: [
    ...[
      'null',
      'true',
      '0',
      '1',
      '-1',
      '1.5',
      '1e300',
      '9007199254740993',
      '"a"',
      '""',
      '[]',
      '{}',
    ],
    ...['"type"', '"version"', '"transfers"', '"data"', '"proofs"', '"addresses"', '"$i"'],
    ...['"\\u0041"', '"\\\\"', `"${address}"`, `"${publicKey}"`, '"base64:AQ=="', '"z"'],
    ...[3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 102, 103, 104, 111, 112, 113].map(String),
    ...[
      '123456789012345678901234567890',
      '"2NEpo7TZRRrLZSi2U"',
      '{"key":"$i","type":"boolean","value":true}',
    ],
    ...[...node.byType.values()].map((tx) => stringify(txToJson(tx, scheme))),
  ],
  layers: [
    ...['[…]', '{"a":…}', '"…"', '1,…', '"",…', '{},…', '[],…', '"a$i":1,…', '1…', 'z…', 'a…'],
    ...['\\\\u0041…', '\\\\"…', '9007199254740993,…', ' …', `"${address}",…`, `"${publicKey}",…`],
    ...[`{"recipient":"${address}","amount":1},…`, '{"key":"k$i","type":"boolean","value":true},…'],
    ...[
      '{"key":"k$i","type":"string","value":"…"}',
      '{"key":"k$i","type":"binary","value":"base64:"},…',
    ],
  ],
};

/** A body whose lists and texts a change can lengthen. */
function recipesOf(body: unknown): Recipe[] {
  if (body === undefined) return [];
  if (typeof body === 'string') return [{ layers: [['a…', 1000]], core: body }];
  const whole = stringify(body as object);
  return [
    { layers: [], core: whole },
    ...Object.entries(body as object).flatMap(([name, value]): Recipe[] => {
      const rest = stringify({ ...(body as object), [name]: undefined } as object).slice(1);
      const around = rest === '}' ? `{"${name}":…}` : `{"${name}":…,${rest}`;
      if (Array.isArray(value) && value.length > 0) {
        const item = stringify(value[0]);
        return [99, 999, 9999].map((times) => ({
          layers: [
            [around, 1],
            ['[…]', 1],
            [`${item},…`, times],
          ],
          core: item,
        }));
      }
      if (typeof value !== 'string') return [];
      return ['z', 'x', '\\u0041', '1'].map((letter) => ({
        layers: [
          [around, 1],
          ['"…"', 1],
          [`${letter}…`, 50_000],
        ],
        core: '',
      }));
    }),
  ];
}

const request = (route: AnyRoute, { path = {}, query = '' }: Call): HttpRequest => {
  const values = pathNames(route.path).map((name) => String(path[name] ?? ''));
  const key = route.access === 'privacyKey' ? privacyApiKey : apiKey;
  return {
    id: 'r',
    method: route.method,
    path: route.path,
    query: query.slice(1),
    param: (i) => values[i] ?? '',
    header: (name) => (name === 'x-api-key' ? key : ''),
    headers: () => '',
    hasHeader: () => false,
    remoteAddress: () => '127.0.0.1',
  };
};

const IS_OF_TRANSACTIONS = /^\/transactions\//;
/** One of each type, as JSON. */
const txs = [...node.byType.values()].map((tx): object => {
  const json = parse(stringify(txToJson(tx, scheme))) as object;
  return json;
});

/** These end the node, or call somebody else. */
const LEFT_OUT = new Set(['/node/stop', '/peers/connect']);

function problemOf(route: AnyRoute): Problem | undefined {
  const { method, path, body } = route;
  const known = calls[`${method} ${path}`] ?? [];
  const handler = mounted.find((one) => one.method === method && one.pattern === pathPattern(path));
  if (body === undefined || handler === undefined || LEFT_OUT.has(path)) return undefined;
  const bodies = known.map(({ body }) => body);
  const seeds = [...bodies, ...(IS_OF_TRANSACTIONS.test(path) ? txs : [])].flatMap(recipesOf);
  const http = request(route, known[0] ?? {});
  return {
    name: `route/${method} ${path}`,
    vocabulary,
    seeds: [
      ...seeds,
      {
        layers: [
          ['[…]', 1],
          ['1,…', 1000],
        ],
        core: '1',
      },
    ],
    lengthMax: Math.min(budgetOf(route).bytesIn, 1024 * 1024),
    prepare(text) {
      const bytes = Buffer.from(text);
      return () => handler.handle(http, bytes);
    },
  };
}

export const routeProblems: readonly Problem[] = routes.flatMap((route) => problemOf(route) ?? []);
