/** The cases of the interface (test/vectors/data-cases.json) on both stores. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { parse } from '../../../src/base/json/json.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { dataRoutes } from '../../../src/data-service/api/data-api.ts';
import { refusesTwoLengths } from '../../adapters/http/two-lengths.ts';
import { headProblems } from '../../rest/fixtures/head.ts';
import { fillText } from '../../rest-cases/bindings.ts';
import type { RestCase } from '../../rest-cases/cases.ts';
import { call, runCases } from '../../rest-cases/runner.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';

const file = new URL('../../vectors/data-cases.json', import.meta.url);
const cases = parse(readFileSync(file, 'utf8')) as readonly RestCase[];
const chain = madeChain({ seed: 'cases', txsPerBlock: 12, accounts: 20 });
chain.grow(110);

type Tx = Readonly<Record<string, unknown>>;
const all = Array.from(
  { length: chain.height() },
  (_, i) => chain.block(i + 1)!['transactions'] as Tx[],
).flat();
const ofType = (type: number): Tx => all.find((tx) => tx['type'] === type)!;
const [entry] = ofType(12)['data'] as { key: string; value: number }[];

const bindings = {
  total: String(all.length),
  tip: chain.signature(chain.height()),
  txId: ofType(4)['id'],
  unknownTxId: '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM',
  assetId: ofType(3)['id'],
  address: ofType(4)['sender'],
  alias: ofType(10)['alias'],
  aliasOwner: ofType(10)['sender'],
  intKey: entry!.key,
  intKeyEncoded: encodeURIComponent(entry!.key),
  intValue: entry!.value,
  intText: String(entry!.value),
};

/** Requests of the file, as the server sees them. */
const asked = cases.map(({ name, method, path, body, headers, expectStatus }) => {
  const [place = '', query = ''] = path.split('?');
  const given = new Map(new URLSearchParams(query));
  if (typeof body === 'object') for (const key of Object.keys(body ?? {})) given.set(key, '');
  return { name, method, place, given, headers, isRefused: expectStatus === 400 };
});

const pattern = (path: string) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);

t.test('every operation and every parameter has cases', async (t) => {
  for (const { method, path, query = {} } of dataRoutes) {
    const isLiteral = (place: string): boolean =>
      dataRoutes.some((other) => other.path === place && other.path !== path);
    const own = asked.filter(
      (one) => one.method === method && pattern(path).test(one.place) && !isLiteral(one.place),
    );
    t.ok(own.length > 0, `${method} ${path}`);
    // Streams are read by stream/transaction-streams.test.ts.
    if (path.endsWith('/stream')) continue;
    for (const name of Object.keys(query)) {
      const naming = own.filter(({ given }) => given.has(name));
      t.ok(
        naming.some(({ isRefused }) => !isRefused),
        `${method} ${path} takes ${name}`,
      );
      t.ok(
        naming.some(({ isRefused }) => isRefused),
        `${method} ${path} refuses a wrong ${name}`,
      );
    }
  }
});

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, open);
  await service.reached(chain.height());
  const available = new Set(['made-chain']);
  const outcomes = await runCases(cases, { baseUrl: service.url, bindings, available });
  for (const { name, result, why } of outcomes) t.equal(result, 'passed', `${name}: ${why}`);
  const asked = new Set<string>();
  for (const { name, method, path } of cases) {
    const [route = path] = path.split('?');
    if (method !== 'GET' || asked.has(route)) continue;
    asked.add(route);
    const url = service.url + fillText(path, bindings);
    t.strictSame(await headProblems((verb) => call(verb, url)), [], `HEAD of ${name}`);
  }
  const stream = await call('HEAD', `${service.url}/transactions/stream`);
  t.match(stream, { status: 200, text: '', headers: { 'content-type': /event-stream/ } });
  await refusesTwoLengths(t, Number(new URL(service.url).port), 'POST /transactions');
}

const cluster = await postgresCluster(t);
t.test('PGlite', (t) => check(t, migratedDatabase));
t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  await check(t, async () => cluster.open(url));
});
