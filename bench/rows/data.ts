/**
 * Row crawl: the data service beside its database. The chain is made, and its blocks are printed
 * before the clock starts, by a node in a process of its own: the crawl pays for HTTP, JSON, rows and
 * writing.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { postgresDatabase } from '../../src/adapters/database/postgres.ts';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { systemClock, systemRandom } from '../../src/adapters/system.ts';
import type { Database } from '../../src/base/ports/database.ts';
import type { Log } from '../../src/base/ports/log.ts';
import { configuredFamily } from '../../src/crypto/families.ts';
import { readBlock } from '../../src/data-service/crawler/chain-block.ts';
import type { CrawlerOptions } from '../../src/data-service/crawler/crawler.ts';
import {
  type Batch,
  nothingKnown,
  prepareBatch,
  readCursor,
} from '../../src/data-service/crawler/prepare-batch.ts';
import { COLUMNS } from '../../src/data-service/crawler/rows/columns.ts';
import { DataService } from '../../src/data-service/data-service.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import type { MadeChain } from '../../test/data-service/made-chain.ts';
import type { Bench } from '../bench.ts';
import { keptChain, TXS_PER_BLOCK } from '../chain/made-chains.ts';
import { SUPERUSER, startPostgresServer } from '../denominators/postgres-server.ts';
import { cpuSecondsOf } from '../measure/cpu.ts';
import type { Spread } from '../measure/rounds.ts';
import { atLeast, number, perSecond, type RowResult } from '../report/result.ts';

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
const NODE = fileURLToPath(new URL('../node/made-chain-node.ts', import.meta.url));
const BATCH_BLOCKS = OPTIONS.batchTx / TXS_PER_BLOCK;
const silent = (): void => {};
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };

const countOf = (chain: MadeChain): number =>
  Array.from({ length: chain.height() }, (_, i) =>
    Number(chain.block(i + 1)!['transactionCount']),
  ).reduce((sum, count) => sum + count, 0);

/** The rows of the crawl in the same batches, ready before the clock starts. */
async function preparedBatches(db: Database, chain: MadeChain): Promise<readonly Batch[]> {
  const batches: Batch[] = [];
  let cursor = await readCursor(db, { height: 0, signature: '' });
  const known = nothingKnown(cursor);
  for (let from = 1; from <= chain.height(); from += BATCH_BLOCKS) {
    const heights = Array.from({ length: BATCH_BLOCKS }, (_, i) => from + i);
    const blocks = heights.flatMap((height) => chain.block(height) ?? []);
    const read = blocks.map((block) => readBlock(block));
    const batch = await prepareBatch(db, read, cursor, known);
    cursor = batch.next;
    batches.push(batch);
  }
  return batches;
}

/** Within a batch nothing waits. */
async function bareInsert(db: Database, batches: readonly Batch[]): Promise<void> {
  for (const { texts } of batches) {
    await db.transaction((queries) =>
      Promise.all(texts.map(([table, text]) => queries.copy(table, COLUMNS[table], text))),
    );
  }
}

interface Setting {
  readonly chain: MadeChain;
  readonly node: { readonly url: string; readonly pid: number };
  /** Of the server of databases. */
  readonly serverPid: number;
  readonly database: () => Promise<string>;
  readonly end: () => Promise<void>;
}

/** The blocks are kept here and printed in a node of its own process. */
async function prepared(txs: number): Promise<Setting> {
  const chain = keptChain(txs);
  const node = await nodeProcess(txs);
  const server = await startPostgresServer();
  const urlOf = (name: string) => `postgres://${SUPERUSER}@/${name}?host=${server.folder}`;
  const admin = postgresDatabase({ url: urlOf('postgres'), poolSize: 1 });
  let made = 0;
  return {
    chain,
    node,
    serverPid: server.pid,
    async database() {
      const name = `data${made++}`;
      await admin.query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    async end() {
      await admin.close();
      await server.stop();
      await node.end();
    },
  };
}

async function nodeProcess(txs: number) {
  const child = fork(NODE, [String(txs)], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (sent) => resolve(String(sent)));
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}`)));
  });
  const end = async (): Promise<void> => void child.kill();
  return { url, pid: child.pid!, end };
}

interface Crawled {
  readonly seconds: number;
  readonly stop: () => Promise<void>;
}

/** Crawls the whole chain into a new database. */
async function crawled({ chain, node, database }: Setting, bulk: boolean): Promise<Crawled> {
  const client = undiciClient();
  const forwarding = undiciClient();
  const store = await database();
  const db = postgresDatabase({ url: store, poolSize: 1 });
  await migrate(db, OPTIONS);
  await db.close();
  const start = performance.now();
  const service = new DataService(
    {
      version: '0',
      nodeUrls: [node.url],
      access: { auth: 'none', keyHashes: [], trustedProxies: [], rate: 0, burst: 1 },
      maxLag: 100,
      strictLag: false,
      streamsOfClientMax: 100,
      streamsMax: 0,
      crawl: { ...OPTIONS, bulk },
      listen: { host: '127.0.0.1', port: 0, cors: false },
    },
    {
      openDatabase: async () => postgresDatabase({ url: store, poolSize: 4 }),
      http: httpListener,
      client,
      forwarding,
      clock: systemClock(undefined),
      random: systemRandom,
      log,
      hashes: configuredFamily(true),
    },
  );
  await service.start();
  const { state } = service;
  while (state.height < chain.height() || state.bulk) {
    if (state.lastError !== undefined) throw new Error(state.lastError);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    seconds: (performance.now() - start) / 1000,
    async stop() {
      await service.stop();
      await client.close();
      await forwarding.close();
    },
  };
}

const CRAWL_TXS = 100_000;
const QUICK_CRAWL_TXS = 50_000;

const ROUNDS = 3;

const spreadOf = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  return { median, low: sorted[0]!, high: sorted.at(-1)!, count: sorted.length };
};

/** In turns, so that a busy machine slows both down. */
export async function crawl(bench: Bench): Promise<RowResult> {
  const setting = await prepared(bench.quick ? QUICK_CRAWL_TXS : CRAWL_TXS);
  try {
    const txs = countOf(setting.chain);
    const rounds: Round[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await round(setting, txs));
    const share = spreadOf(rounds.map(({ bare, crawl }) => crawl.rate / bare.rate));
    const rate = (name: keyof Round) => perSecond(spreadOf(rounds.map((one) => one[name].rate)));
    const cost = (name: keyof Round): string => {
      const middle = (part: keyof Cost): string =>
        number(spreadOf(rounds.map((one) => one[name].cost[part])).median);
      return `client ${middle('own')}, PostgreSQL ${middle('server')}, node ${middle('node')} µs`;
    };
    return {
      row: 'crawl',
      title: 'crawl beside the bare insert',
      figures: [
        { what: 'bare insert', value: rate('bare') },
        { what: 'crawl', value: rate('crawl'), against: 'bare insert', ratio: share },
        { what: 'first load, indexes included', value: rate('first') },
        { what: 'processor time of a transaction, bare insert', value: cost('bare') },
        { what: 'processor time of a transaction, crawl', value: cost('crawl') },
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

/** Processor time of one transaction in microseconds. */
interface Cost {
  readonly own: number;
  readonly server: number;
  readonly node: number;
}

/** Transactions a second, and their cost. */
interface Measured {
  readonly rate: number;
  readonly cost: Cost;
}

interface Round {
  readonly bare: Measured;
  readonly crawl: Measured;
  readonly first: Measured;
}

async function round(setting: Setting, txs: number): Promise<Round> {
  const db = postgresDatabase({ url: await setting.database(), poolSize: 1 });
  await migrate(db, OPTIONS);
  const batches = await preparedBatches(db, setting.chain);
  const bare = await measured(setting, txs, async () => {
    const start = performance.now();
    await bareInsert(db, batches);
    return (performance.now() - start) / 1000;
  });
  await db.close();
  const crawlOnce = (bulk: boolean) =>
    measured(setting, txs, async () => {
      const { seconds, stop } = await crawled(setting, bulk);
      await stop();
      return seconds;
    });
  return { bare, crawl: await crawlOnce(false), first: await crawlOnce(true) };
}

async function measured(
  { node, serverPid }: Setting,
  txs: number,
  work: () => Promise<number>,
): Promise<Measured> {
  const read = () => ({
    own: process.cpuUsage().user + process.cpuUsage().system,
    server: 1e6 * cpuSecondsOf(serverPid),
    node: 1e6 * cpuSecondsOf(node.pid),
  });
  const before = read();
  const seconds = await work();
  const after = read();
  const spent = (part: keyof Cost): number => (after[part] - before[part]) / txs;
  return {
    rate: txs / seconds,
    cost: { own: spent('own'), server: spent('server'), node: spent('node') },
  };
}
