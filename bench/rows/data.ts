/**
 * Rows crawl and search: the data service beside its database. The chain is made, and its blocks are
 * printed before the clock starts: the crawl pays for HTTP, JSON, rows and writing.
 */
import { postgresDatabase } from '../../src/adapters/database/postgres.ts';
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { systemClock, systemRandom } from '../../src/adapters/system.ts';
import type { Database } from '../../src/base/database.ts';
import type { Log } from '../../src/base/ports.ts';
import { configuredFamily } from '../../src/crypto/families.ts';
import { readBlock } from '../../src/data-service/crawler/chain-block.ts';
import type { CrawlerOptions } from '../../src/data-service/crawler/crawler.ts';
import { COLUMNS, rowsOf, type Table } from '../../src/data-service/crawler/rows.ts';
import { createDataService } from '../../src/data-service/data-service.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import { type MadeChain, madeChain } from '../../test/data-service/made-chain.ts';
import { madeNode } from '../../test/data-service/made-node.ts';
import type { Bench } from '../bench.ts';
import { SUPERUSER, startPostgresServer } from '../denominators/postgres-server.ts';
import type { Spread } from '../measure/rounds.ts';
import { atLeast, atMost, number, perSecond, type RowResult } from '../report/result.ts';

const TXS_PER_BLOCK = 100;
const OPTIONS: CrawlerOptions = {
  confirmations: 0,
  concurrency: 4,
  batchBlocks: 100,
  batchTx: 2000,
  maxRollback: 4000,
  pollMs: 50,
  bulk: false,
  indexText: true,
};
const BATCH_BLOCKS = OPTIONS.batchTx / TXS_PER_BLOCK;
const silent = (): void => {};
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };

function longChain(txs: number): MadeChain {
  const chain = madeChain({ seed: 'bench', txsPerBlock: TXS_PER_BLOCK, accounts: 5000 });
  chain.grow(Math.ceil((txs * 7) / (6 * TXS_PER_BLOCK)));
  return chain;
}

/** A chain whose blocks are made and printed once. */
function keptChain(txs: number): MadeChain {
  const chain = longChain(txs);
  const kept = Array.from({ length: chain.height() }, (_, i) => chain.block(i + 1));
  const texts = kept.map((block) => JSON.stringify(block));
  return {
    ...chain,
    block: (height) => kept[height - 1],
    printed: (height) => texts[height - 1],
  };
}

const countOf = (chain: MadeChain): number =>
  Array.from({ length: chain.height() }, (_, i) =>
    Number(chain.block(i + 1)!['transactionCount']),
  ).reduce((sum, count) => sum + count, 0);

/** The same rows in the same batches, ready before the clock starts; transactions a second. */
async function bareInsert(db: Database, chain: MadeChain): Promise<number> {
  const batches = [];
  let seq = 1;
  for (let from = 1; from <= chain.height(); from += BATCH_BLOCKS) {
    const heights = Array.from({ length: BATCH_BLOCKS }, (_, i) => from + i);
    const blocks = heights.flatMap((height) => chain.block(height) ?? []).map(readBlock);
    const rows = rowsOf(blocks, seq, new Map());
    seq = rows.nextSeq;
    batches.push(rows);
  }
  const start = performance.now();
  for (const { lines } of batches) {
    await db.transaction(async (queries) => {
      for (const table of Object.keys(COLUMNS) as Table[]) {
        await queries.copy(table, COLUMNS[table], lines[table]);
      }
    });
  }
  return (1000 * (seq - 1)) / (performance.now() - start);
}

interface Setting {
  readonly chain: MadeChain;
  readonly database: () => Promise<string>;
  readonly end: () => Promise<void>;
}

/** A kept chain costs two kilobytes of memory for each transaction. */
async function prepared(txs: number, isKept: boolean): Promise<Setting> {
  const server = await startPostgresServer();
  const urlOf = (name: string) => `postgres://${SUPERUSER}@/${name}?host=${server.folder}`;
  const admin = postgresDatabase({ url: urlOf('postgres'), poolSize: 1 });
  let made = 0;
  return {
    chain: isKept ? keptChain(txs) : longChain(txs),
    async database() {
      const name = `data${made++}`;
      await admin.query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    async end() {
      await admin.close();
      await server.stop();
    },
  };
}

interface Crawled {
  readonly url: string;
  readonly seconds: number;
  readonly stop: () => Promise<void>;
}

/** Crawls the whole chain into a new database. */
async function crawled({ chain, database }: Setting, bulk: boolean): Promise<Crawled> {
  const ends: (() => unknown)[] = [];
  const node = await madeNode({ teardown: (end) => ends.push(end) }, () => chain);
  const client = undiciClient();
  const store = await database();
  const db = postgresDatabase({ url: store, poolSize: 1 });
  await migrate(db, OPTIONS);
  await db.close();
  const start = performance.now();
  const service = await createDataService(
    {
      version: '0',
      nodeUrls: [node.url],
      access: { auth: 'none', keyHashes: [], trustedProxies: [], rate: 0, burst: 1 },
      maxLag: 100,
      strictLag: false,
      streamsMax: 0,
      crawl: { ...OPTIONS, bulk },
      listen: { host: '127.0.0.1', port: 0, cors: false },
    },
    {
      openDatabase: async () => postgresDatabase({ url: store, poolSize: 4 }),
      http: hyperExpress,
      client,
      clock: systemClock(undefined),
      random: systemRandom,
      log,
      hashes: configuredFamily(true),
    },
  );
  const { state } = service;
  while (state.height < chain.height() || state.bulk) {
    if (state.lastError !== undefined) throw new Error(state.lastError);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `http://127.0.0.1:${service.server!.port}`,
    seconds: (performance.now() - start) / 1000,
    async stop() {
      await service.stop();
      await client.close();
      for (const end of ends) await end();
    },
  };
}

const CRAWL_TXS = 100_000;
const QUICK_TXS = 20_000;

const ROUNDS = 3;

const spreadOf = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  return { median, low: sorted[0]!, high: sorted.at(-1)!, count: sorted.length };
};

/** In turns, so that a busy machine slows both down. */
export async function crawl(bench: Bench): Promise<RowResult> {
  const setting = await prepared(bench.quick ? QUICK_TXS : CRAWL_TXS, true);
  try {
    const txs = countOf(setting.chain);
    const rounds: { bare: number; crawl: number; first: number }[] = [];
    for (let i = 0; i < (bench.quick ? 1 : ROUNDS); i++) rounds.push(await round(setting, txs));
    const share = spreadOf(rounds.map(({ bare, crawl }) => crawl / bare));
    const rate = (name: 'bare' | 'crawl' | 'first') =>
      perSecond(spreadOf(rounds.map((one) => one[name])));
    return {
      row: 'crawl',
      title: 'crawl beside the bare insert',
      figures: [
        { what: 'bare insert', value: rate('bare') },
        { what: 'crawl', value: rate('crawl'), against: 'bare insert', ratio: share },
        { what: 'first load, indexes included', value: rate('first') },
        { what: 'chain', value: `${txs} transactions` },
      ],
      goals: [
        { level: 'Good', conditions: [atLeast(0.5, share.median, 'of the bare insert')] },
        { level: 'Strong', conditions: [atLeast(0.7, share.median, 'of the bare insert')] },
        { level: 'Moonshot', conditions: [atLeast(0.9, share.median, 'of the bare insert')] },
      ],
      notes: [],
    };
  } finally {
    await setting.end();
  }
}

/** Transactions a second of each. */
async function round(setting: Setting, txs: number) {
  const db = postgresDatabase({ url: await setting.database(), poolSize: 1 });
  await migrate(db, OPTIONS);
  const bare = await bareInsert(db, setting.chain);
  await db.close();
  const run = await crawled(setting, false);
  await run.stop();
  const first = await crawled(setting, true);
  await first.stop();
  return { bare, crawl: txs / run.seconds, first: txs / first.seconds };
}

const SEARCH_TXS = 1_000_000;
const REPEATS = 200;
const ROWS = 20;

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[REPEATS / 2]!;
}

export async function search(bench: Bench): Promise<RowResult> {
  const setting = await prepared(bench.quick ? QUICK_TXS : SEARCH_TXS, false);
  const run = await crawled(setting, true);
  try {
    const txs = countOf(setting.chain);
    const transfer = (setting.chain.block(3)!['transactions'] as { type: number }[]).find(
      ({ type }) => type === 4,
    ) as unknown as { id: string; sender: string };
    const ask = (path: string) => async () => {
      const answer = await fetch(run.url + path);
      await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    };
    const paths: Readonly<Record<string, string>> = {
      'newest page': `/transactions?limit=${ROWS}`,
      'page in the middle': `/transactions?limit=${ROWS}&index=${Math.floor(txs / 2)}`,
      'page at the end': `/transactions?limit=${ROWS}&index=${ROWS + 1}`,
      'of a type': `/transactions?limit=${ROWS}&type=10&index=${Math.floor(txs / 2)}`,
      'of an address': `/transactions?limit=${ROWS}&search=${transfer.sender}&scope=in_addresses`,
      'of an asset and amount': `/transactions?limit=${ROWS}&type=4&assetId=NATIVE&amountFrom=5`,
      'of a text': `/transactions?limit=${ROWS}&search=invoice+31&scope=in_description`,
      'of a key': `/api/v1/txIds/key%207?limit=${ROWS}`,
      users: `/users?limit=${ROWS}&index=1000`,
      assets: `/assets?limit=${ROWS}`,
    };
    const lookup = await medianMs(ask(`/transactions/id/${transfer.id}`));
    const figures = [{ what: 'one transaction by its id', value: `${number(lookup)} ms` }];
    let worst = 0;
    for (const [what, path] of Object.entries(paths)) {
      const ms = await medianMs(ask(path));
      worst = Math.max(worst, ms / lookup);
      figures.push({ what, value: `${number(ms)} ms, ${number(ms / lookup)} ×` });
    }
    return {
      row: 'search',
      title: 'lists beside a lookup by id',
      figures: [...figures, { what: 'chain', value: `${txs} transactions` }],
      goals: [
        { level: 'Good', conditions: [atMost(20, worst, '× the lookup')] },
        { level: 'Strong', conditions: [atMost(10, worst, '× the lookup')] },
        { level: 'Moonshot', conditions: [atMost(3, worst, '× the lookup')] },
      ],
      notes: [],
    };
  } finally {
    await run.stop();
    await setting.end();
  }
}
