/** Every filter and every page of the lists, against the same computed from the whole chain. */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import {
  amountOf,
  assetOf,
  messageOf,
  partiesOf,
} from '../../../src/data-service/crawler/rows/described.ts';
import { seededRandom } from '../../crypto/random.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { type Served, served } from '../served.ts';
import { migratedDatabase, postgresCluster } from '../stores.ts';

const cluster = await postgresCluster(t);
const chain = madeChain({ seed: 'lists', txsPerBlock: 12, accounts: 30 });
chain.grow(120);

interface ListedTx {
  readonly seq: number;
  readonly id: string;
  readonly type: number;
  readonly height: number;
  readonly timestamp: number;
  readonly json: Record<string, unknown>;
}

const all: ListedTx[] = [];
for (let height = 1; height <= chain.height(); height++) {
  for (const json of chain.block(height)!['transactions'] as Record<string, unknown>[]) {
    const { id, type, timestamp } = json as { id: string; type: number; timestamp: number };
    all.push({ seq: all.length + 1, id, type, height, timestamp, json });
  }
}

const LONG = 200;
const NAME_OF_ALIAS = /name-\d+-\d+/;

/** Whether a transaction belongs to the list of these parameters. */
function belongs(tx: ListedTx, query: Readonly<Record<string, string>>): boolean {
  const { author, participants } = partiesOf(tx.type, tx.json);
  const others = tx.type === 12 ? participants.filter((one) => one !== author) : participants;
  const day = (text: string): number => Date.parse(`${text}T00:00:00Z`);
  const conditions: Readonly<Record<string, (value: string) => boolean>> = {
    type: (value) => value.split(',').includes(String(tx.type)),
    assetId: (value) => assetOf(tx.type, tx.json) === value,
    amount: (value) => amountOf(tx.type, tx.json) === BigInt(value),
    amountFrom: (value) => (amountOf(tx.type, tx.json) ?? -1n) >= BigInt(value),
    amountTo: (value) => (amountOf(tx.type, tx.json) ?? 2n ** 64n) <= BigInt(value),
    dateFrom: (value) => tx.timestamp >= day(value),
    dateTo: (value) => tx.timestamp < day(value) + 86_400_000,
    heightFrom: (value) => tx.height >= Number(value),
    heightTo: (value) => tx.height <= Number(value),
    sender: (value) => author === value,
    recipient: (value) => others.includes(value),
    permissions: (value) => value.split(',').includes(String(tx.json['role'])),
  };
  return Object.entries(query).every(
    ([name, value]) => conditions[name] === undefined || conditions[name](value),
  );
}

type Item = { readonly id: string };

async function pages(service: Served, query: Record<string, string>, limit: number) {
  const ids: string[] = [];
  let index: string | null = null;
  do {
    const search = new URLSearchParams({ ...query, limit: String(limit) });
    if (index !== null) search.set('index', index);
    const answer = await service.get(`/transactions?${search}`);
    if (answer.status !== 200) throw new Error(`${search}: ${answer.text}`);
    ids.push(...(answer.json as Item[]).map(({ id }) => id));
    index = answer.headers.get('x-next-index');
  } while (index !== null);
  return ids;
}

type Check = (t: Test, service: Served) => Promise<void>;

/** One service on each store, for all checks. */
async function onBoth(checks: Readonly<Record<string, Check>>): Promise<void> {
  const start = async (t: Test, open: () => Promise<Database>) => {
    const node = await madeNode(t, () => chain);
    const service = await served(t, node.url, open);
    await service.reached(chain.height());
    for (const [name, check] of Object.entries(checks)) {
      await t.test(name, (t) => check(t, service));
    }
  };
  await t.test('PGlite', (t) => start(t, migratedDatabase));
  await t.test('PostgreSQL', { skip: cluster.skip }, async (t) => {
    const url = await cluster.createDatabase();
    await start(t, async () => cluster.open(url));
  });
}

const random = seededRandom('queries');
const pick = <T>(list: readonly T[]): T => list[random.bytes(1)[0]! % list.length]!;
const some = (): ListedTx => all[(random.bytes(2)[0]! * 256 + random.bytes(1)[0]!) % all.length]!;

function someQuery(): Record<string, string> {
  const tx = some();
  const { author, participants } = partiesOf(tx.type, tx.json);
  const asset = assetOf(tx.type, tx.json);
  const amount = amountOf(tx.type, tx.json);
  const date = new Date(tx.timestamp).toISOString().slice(0, 10);
  const query: Record<string, string> = {};
  const maybe = (add: Record<string, string>): void => {
    if (pick([true, false, false])) Object.assign(query, add);
  };
  maybe({ type: pick([String(tx.type), `${tx.type},4`]) });
  if (asset !== undefined) maybe({ assetId: asset });
  if (asset !== undefined && amount !== undefined) {
    const needs = { type: String(tx.type), assetId: asset };
    maybe({
      ...needs,
      ...pick([{ amount: String(amount) }, { amountFrom: '3' }, { amountTo: String(amount) }]),
    });
  }
  maybe({ dateFrom: date, dateTo: date });
  maybe({
    heightFrom: String(tx.height - 10 > 0 ? tx.height - 10 : 1),
    heightTo: String(tx.height),
  });
  if (author !== undefined) maybe({ sender: author });
  if (participants[0] !== undefined && !NAME_OF_ALIAS.test(participants[0])) {
    maybe({ recipient: participants[0] });
  }
  if (query['amount'] !== undefined) {
    delete query['amountFrom'];
    delete query['amountTo'];
  }
  maybe({ sort: 'asc' });
  return query;
}

const equalOfChain: Check = async (t, service) => {
  const roles = { type: '102', permissions: 'miner' };
  for (const query of [{}, roles, ...Array.from({ length: 30 }, someQuery)]) {
    const wanted = all.filter((tx) => belongs(tx, query)).map(({ id }) => id);
    // Many short pages of a long list show no more than those of a short one.
    const limit = pick(wanted.length > LONG ? [100, 500] : [7, 100, 500]);
    const shown: string[] = await pages(service, query, limit);
    const expected = (query as { sort?: string }).sort === 'asc' ? wanted : wanted.reverse();
    t.strictSame(shown, expected, JSON.stringify(query));
    const { sort: _, ...filter } = query as Record<string, string>;
    const { json } = await service.get(`/transactions/count?${new URLSearchParams(filter)}`);
    t.strictSame(json, { count: String(wanted.length) }, `count of ${JSON.stringify(query)}`);
  }
};

const searches: Check = async (t, service) => {
  const find = (search: string, scope: string) => pages(service, { search, scope }, 50);
  const ids = (wanted: (tx: ListedTx) => boolean) =>
    all
      .filter(wanted)
      .map(({ id }) => id)
      .reverse();
  const says = (text: string) => (tx: ListedTx) =>
    messageOf(tx.type, tx.json)?.toLowerCase().includes(text.toLowerCase()) === true;
  for (const text of ['invoice', 'ДОГОВОР', 'café 1', 'Token 20', '100%', 'no such words']) {
    t.strictSame(await find(text, 'in_description'), ids(says(text)), text);
  }
  const sample = all.find(({ type }) => type === 4)!;
  const sender = String(sample.json['sender']);
  const names = (address: string) => (tx: ListedTx) => {
    const { author, participants } = partiesOf(tx.type, tx.json);
    return author === address || participants.includes(address);
  };
  t.strictSame(await find(sender, 'in_addresses'), ids(names(sender)));
  t.strictSame(await find(sender.slice(0, 12), 'addresses'), ids(names(sender)));
  t.strictSame(await find(sample.id, 'in_tx_ids'), [sample.id]);
  t.strictSame(await find(sample.id.slice(0, 8), 'in_tx_ids'), [sample.id]);
  t.strictSame(
    await find('55', 'in_blocks'),
    ids(({ height }) => height === 55),
  );
  t.strictSame(
    await find(chain.signature(55).slice(0, 20), 'in_blocks'),
    ids(({ height }) => height === 55),
  );
  const issue = all.find(({ type }) => type === 3)!;
  const ofAsset = ids((tx) => assetOf(tx.type, tx.json) === issue.id);
  t.strictSame(await find(issue.id, 'in_token_ids'), ofAsset);
  t.strictSame(await find(issue.id.slice(0, 9), 'in_token_ids'), ofAsset);
  const proof = (sample.json['proofs'] as string[])[0]!;
  t.strictSame(await find(proof, 'in_signatures'), [sample.id]);
  const sum = amountOf(4, sample.json)!;
  const has = (tx: ListedTx): boolean =>
    amountOf(tx.type, tx.json) === sum ||
    ((tx.json['transfers'] as { amount: number }[] | undefined) ?? []).some(
      ({ amount }) => BigInt(amount) === sum,
    );
  t.strictSame(await find(String(sum), 'in_sums'), ids(has));
  const entries = (tx: ListedTx) => (tx.json['data'] as { key: string; value: unknown }[]) ?? [];
  const inEntries = (text: string) => (tx: ListedTx) =>
    entries(tx).some(({ key, value }) => key.includes(text) || String(value).includes(text));
  t.strictSame(await find('path/to%', 'in_keys_values'), ids(inEntries('path/to%')));
  t.strictSame(await find('договор', 'in_keys_values'), ids(inEntries('договор')));
  const alias = all.find(({ type }) => type === 10)!;
  const named = String(alias.json['alias']);
  const owner = String(alias.json['sender']);
  t.strictSame(await find(named, 'in_aliases'), ids(names(owner)));
  const everything = await pages(service, { search: sender }, 500);
  t.strictSame(everything, ids(names(sender)), 'in_all is the default');
};

const steadyPages: Check = async (t, service) => {
  const first = await service.get('/transactions?limit=5');
  const index = first.headers.get('x-next-index');
  t.equal(Number(first.headers.get('x-first-index')), all.length);
  t.equal(Number(first.headers.get('x-total-index')), all.length);
  t.equal(first.headers.get('link'), `</transactions?limit=5&index=${index}>; rel="next"`);
  const tag = first.headers.get('etag')!;
  const again = await service.get('/transactions?limit=5', { 'if-none-match': tag });
  t.equal(again.status, 304);
  const weak = { 'if-none-match': `"another", W/${tag}` };
  t.equal((await service.get('/transactions?limit=5', weak)).status, 304, 'a proxy has changed it');
  const posted = await service.post('/transactions', '{"limit":5}', { 'if-none-match': tag });
  t.match(posted, { status: 200, text: first.text }, 'a tag does not say what the body asked for');
  t.equal(posted.headers.get('etag'), null);
  const text = (await service.get(`/transactions?limit=5&index=${index}`)).text;
  t.equal((await service.get(`/transactions?index=${index}&limit=5`)).text, text);
  const { json } = await service.get('/stats?blocks=60');
  const { points } = json as { points: { skipped: number }[] };
  const skipped = points.reduce((sum, point) => sum + point.skipped, 0);
  t.equal(skipped, 60, 'the made chain skips a round before each block');
};

await onBoth({
  'lists and counts equal those of the whole chain': equalOfChain,
  'a search finds what has the text': searches,
  'a page does not change while the chain grows': steadyPages,
});
