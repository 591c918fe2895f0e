/**
 * Rows search and search-growth: the lists of the data service on made rows. A page is measured in
 * turn with a lookup by id on the same server, so that a busy machine slows both down.
 */
import { postgresDatabase } from '../../src/adapters/database/postgres.ts';
import type { Database } from '../../src/base/ports/database.ts';
import { readBlock } from '../../src/data-service/crawler/chain-block.ts';
import { nothingKnown, prepareBatch } from '../../src/data-service/crawler/prepare-batch.ts';
import { COLUMNS } from '../../src/data-service/crawler/rows/columns.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import { listRequests, pagesOf } from '../../test/data-service/list-requests.ts';
import { madeChain } from '../../test/data-service/made-chain.ts';
import { type MadeRows, makeRows } from '../../test/data-service/made-rows.ts';
import { served } from '../../test/data-service/served.ts';
import type { Bench } from '../bench.ts';
import { SUPERUSER, startPostgresServer } from '../denominators/postgres-server.ts';
import { atMost, number, type RowResult } from '../report/result.ts';

const TXS = 1_000_000;
const QUICK_TXS = 100_000;
const GROWTH = [10_000, 100_000, TXS];
const LIMIT = 20;
const REPEATS = 21;
const QUICK_REPEATS = 3;
const GROWTH_REPEATS = 7;
/** Statistics come from random rows, so the plans may differ from one ANALYZE to the next. */
const SAMPLES = 3;
const SHOWN = 5;

interface Store {
  readonly db: Database;
  readonly made: MadeRows;
  ask(path: string): Promise<void>;
  end(): Promise<void>;
}

async function filled(txs: number): Promise<Store> {
  const server = await startPostgresServer();
  const url = `postgres://${SUPERUSER}@/postgres?host=${server.folder}`;
  const db = postgresDatabase({ url, poolSize: 1 });
  await migrate(db, { indexText: true });
  const made = await makeRows(db, txs);
  const ends: (() => unknown)[] = [];
  const service = await served(
    { teardown: (end) => void ends.push(end) },
    'http://127.0.0.1:9',
    async () => postgresDatabase({ url, poolSize: 4, readOnly: true }),
    { crawl: undefined },
  );
  return {
    db,
    made,
    async ask(path) {
      const answer = await fetch(service.url + path);
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    },
    async end() {
      for (const end of ends) await end();
      await db.close();
      await server.stop();
    },
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function msOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

interface Measured {
  readonly path: string;
  readonly group: string;
  readonly ms: number;
  /** To the lookups in turn with it. */
  readonly ratio: number;
}

/** What a page belongs to in the report: its list, and the scope of a search. */
function groupOf(path: string, query: Readonly<Record<string, string>>): string {
  const list = path
    .split('/')
    .slice(0, path.startsWith('/api') ? 4 : 2)
    .join('/');
  if (path.endsWith('/holders')) return '/assets/{id}/holders';
  return query['search'] === undefined ? list : `${list}, ${query['scope'] ?? 'search'}`;
}

async function measured({ made, ask }: Store, repeats: number): Promise<Measured[]> {
  const lookup = () => ask(`/transactions/id/${made.someId}`);
  for (let i = 0; i < repeats; i++) await lookup();
  const found: Measured[] = [];
  for (const request of listRequests(made)) {
    for (const path of pagesOf(request, LIMIT)) {
      await ask(path);
      const pairs: { own: number; other: number }[] = [];
      for (let i = 0; i < repeats; i++) {
        pairs.push({ other: await msOf(lookup), own: await msOf(() => ask(path)) });
      }
      const ms = median(pairs.map(({ own }) => own));
      const ratio = ms / median(pairs.map(({ other }) => other));
      found.push({ path, group: groupOf(request.path, request.query), ms, ratio });
    }
  }
  return found;
}

/** The slowest of each group, in the order of the groups. */
function slowest(
  all: readonly Measured[],
  groupOf: (one: Measured) => string = ({ group }) => group,
): Map<string, Measured> {
  const found = new Map<string, Measured>();
  for (const one of all) {
    const group = groupOf(one);
    const before = found.get(group);
    if (before === undefined || before.ratio < one.ratio) found.set(group, one);
  }
  return found;
}

export async function search(bench: Bench): Promise<RowResult> {
  const txs = bench.quick ? QUICK_TXS : TXS;
  const store = await filled(txs);
  try {
    const samples: Measured[][] = [];
    while (samples.length < SAMPLES) {
      bench.say(`  ANALYZE ${samples.length + 1} of ${SAMPLES}`);
      await store.db.exec('ANALYZE');
      samples.push(await measured(store, bench.quick ? QUICK_REPEATS : REPEATS));
    }
    const all = samples.flat();
    const maxima = samples.map((pages) => Math.max(...pages.map(({ ratio }) => ratio)));
    const worst = Math.max(...maxima);
    const ranked = [...slowest(all, ({ path }) => path).values()].sort((a, b) => b.ratio - a.ratio);
    return {
      row: 'search',
      title: 'lists beside a lookup by id',
      figures: [
        ...[...slowest(all)].map(([what, { ms, ratio }]) => ({
          what,
          value: `${number(ms)} ms, ${number(ratio)} ×`,
          isDetail: true,
        })),
        { what: `slowest page after any of ${SAMPLES} ANALYZE`, value: `${number(worst)} ×` },
        { what: 'after each of them', value: maxima.map((one) => `${number(one)} ×`).join(', ') },
        {
          what: 'median of all pages',
          value: `${number(median(all.map(({ ratio }) => ratio)))} ×`,
        },
        { what: 'chain', value: `${number(txs)} transactions, ${samples[0]?.length} pages` },
      ],
      goals: [
        { level: 'Good', conditions: [atMost(20, worst, '× the lookup')] },
        { level: 'Strong', conditions: [atMost(10, worst, '× the lookup')] },
        { level: 'Moonshot', conditions: [atMost(3, worst, '× the lookup')] },
      ],
      notes: ranked
        .slice(0, SHOWN)
        .map(({ path, ms, ratio }) => `${number(ratio)} ×, ${number(ms)} ms: ${path}`),
    };
  } finally {
    await store.end();
  }
}

const INSERT_BATCHES = 10;
const BATCH_BLOCKS = 20;
const TXS_PER_BLOCK = 100;

/** Transactions a second that are added to the end with all indexes in place. */
async function insertRate({ db, made }: Store): Promise<number> {
  const chain = madeChain({ seed: 'growth', txsPerBlock: TXS_PER_BLOCK, accounts: 5000 });
  chain.grow(INSERT_BATCHES * BATCH_BLOCKS + 1);
  let cursor = {
    height: made.blocks,
    signature: '',
    nextSeq: made.txs + 1,
    nextUser: made.users + 1,
  };
  const known = nothingKnown(cursor);
  const rates: number[] = [];
  for (let batch = 0; batch < INSERT_BATCHES; batch++) {
    const blocks = Array.from({ length: BATCH_BLOCKS }, (_, i) => {
      const block = readBlock(chain.block(2 + batch * BATCH_BLOCKS + i));
      return { ...block, height: block.height + made.blocks };
    });
    const { texts, next } = await prepareBatch(db, blocks, cursor, known);
    const ms = await msOf(() =>
      db.transaction(async (queries) => {
        for (const [table, text] of texts) await queries.copy(table, COLUMNS[table], text);
      }),
    );
    rates.push(((next.nextSeq - cursor.nextSeq) * 1000) / ms);
    cursor = next;
  }
  return median(rates);
}

/** Bytes of each table and each index; pages of both are written only as far as they are needed. */
const SIZES = `SELECT c.relname AS name, coalesce(i.indrelid::regclass::text, c.relname) AS of,
    pg_total_relation_size(c.oid) - pg_indexes_size(c.oid) AS bytes
  FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i')`;
const SHOWN_BYTES_MIN = 5;

interface Size {
  readonly name: string;
  readonly bytes: number;
}

interface Grown {
  readonly txs: number;
  readonly sizes: readonly Size[];
  readonly insert: number;
  readonly pages: ReadonlyMap<string, Measured>;
}

async function grown(txs: number, repeats: number): Promise<Grown> {
  const store = await filled(txs);
  try {
    const rows = await store.db.query<{ name: string; bytes: string }>(SIZES);
    const sizes = rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) / txs }));
    const pages = slowest(await measured(store, repeats));
    return { txs, sizes, insert: await insertRate(store), pages };
  } finally {
    await store.end();
  }
}

/** What grows with the chain: bytes for a transaction, the rate of insertion, the slowest pages. */
export async function searchGrowth(bench: Bench): Promise<RowResult> {
  const steps: Grown[] = [];
  for (const txs of bench.quick ? GROWTH.slice(0, 2) : GROWTH) {
    steps.push(await grown(txs, bench.quick ? 3 : GROWTH_REPEATS));
  }
  const last = steps.at(-1)!;
  const at = (show: (step: Grown) => string): string => steps.map(show).join(', ');
  const total = ({ sizes }: Grown): number => sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytesOf = (name: string) => (step: Grown) =>
    number(step.sizes.find((one) => one.name === name)?.bytes ?? 0);
  const shown = [...last.sizes]
    .filter(({ bytes }) => bytes >= SHOWN_BYTES_MIN)
    .sort((a, b) => b.bytes - a.bytes);
  return {
    row: 'search-growth',
    title: 'the data service as the chain grows',
    figures: [
      { what: 'transactions', value: at(({ txs }) => number(txs)) },
      { what: 'bytes for each', value: at((step) => number(total(step))) },
      ...shown.map(({ name }) => ({
        what: `of these ${name}`,
        value: at(bytesOf(name)),
        isDetail: true,
      })),
      { what: 'inserted a second', value: at(({ insert }) => number(insert)) },
      ...[...last.pages.keys()].map((group) => ({
        what: `slowest page of ${group}`,
        value: at(({ pages }) => `${number(pages.get(group)?.ms ?? 0)} ms`),
        isDetail: true,
      })),
    ],
    goals: [],
    notes: [],
  };
}
