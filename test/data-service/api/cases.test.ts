/** The cases of the interface (test/vectors/data-cases.json) on both stores. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/database.ts';
import { parse } from '../../../src/base/json.ts';
import type { RestCase } from '../../rest-cases/cases.ts';
import { runCases } from '../../rest-cases/runner.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { memoryDatabase, postgresCluster } from '../stores.ts';

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

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const node = await madeNode(t, () => chain);
  const service = await served(t, node.url, open);
  await service.reached(chain.height());
  const available = new Set(['made-chain']);
  const outcomes = await runCases(cases, { baseUrl: service.url, bindings, available });
  for (const { name, result, why } of outcomes) t.equal(result, 'passed', `${name}: ${why}`);
}

const cluster = await postgresCluster(t);
t.test('PGlite', (t) => check(t, memoryDatabase));
t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  await check(t, async () => cluster.open(url));
});
