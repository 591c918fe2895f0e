/** A crawler in the process of the test. */
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { systemClock, systemRandom } from '../../src/adapters/system.ts';
import type { Database } from '../../src/base/ports/database.ts';
import { type CrawlState, newCrawlState } from '../../src/data-service/crawler/crawl-state.ts';
import {
  type Crawler,
  type CrawlerOptions,
  startCrawler,
} from '../../src/data-service/crawler/crawler.ts';
import { NodeReader } from '../../src/data-service/crawler/node-reader.ts';
import { type MemoryLog, memoryLog } from '../node/memory-ports.ts';
import type { Scope } from '../system/e2e/process.ts';
import { noMeter } from './no-meter.ts';

export const OPTIONS: CrawlerOptions = {
  confirmations: 0,
  concurrency: 3,
  batchBlocks: 20,
  batchTx: 2000,
  maxRollback: 200,
  pollMs: 20,
  bulk: false,
  indexText: true,
};

export interface Crawling extends Crawler {
  readonly state: CrawlState;
  readonly log: MemoryLog;
  /** Resolves once the store has this height and nothing is left to do. */
  reached(height: number, signature: string): Promise<void>;
}

const WAIT_MS = 20;
const WAIT_MS_MAX = 60_000;

export function crawl(
  scope: Scope,
  db: Database,
  urls: readonly string[],
  options: Partial<CrawlerOptions> = {},
): Crawling {
  const http = undiciClient();
  const state = newCrawlState();
  const log = memoryLog();
  const failed = (): void => {
    state.nodeErrors++;
  };
  const clock = systemClock(undefined);
  const crawler = startCrawler(
    { ...OPTIONS, ...options },
    {
      db,
      node: new NodeReader({ urls }, { http, clock, failed }),
      clock,
      random: systemRandom,
      log,
      state,
      meter: noMeter,
    },
  );
  const stop = async (): Promise<void> => {
    await crawler.stop();
    await http.close();
  };
  let stopped: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  scope.teardown(stopOnce);
  return {
    ...crawler,
    stop: stopOnce,
    state,
    log,
    reached: (height, signature) => reached(db, height, signature, state),
  };
}

/** Resolves once the store has this tip and nothing is left to do before the next block. */
export async function reached(
  db: Database,
  height: number,
  signature: string,
  state?: CrawlState,
  waitMsMax = WAIT_MS_MAX,
): Promise<void> {
  for (let waited = 0; waited < waitMsMax; waited += WAIT_MS) {
    const rows = await db.query<{ done: boolean }>(
      `SELECT EXISTS (SELECT FROM blocks WHERE height = $1 AND signature = $2)
         AND NOT EXISTS (SELECT FROM blocks WHERE height > $1)
         AND NOT EXISTS (SELECT FROM balance_dirty WHERE since_height >= -$1::int)
         AND NOT EXISTS (SELECT FROM meta WHERE key = 'bulk') AS done`,
      [height, signature],
    );
    if (rows[0]?.done === true) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error(`height ${height} is not reached: ${JSON.stringify(state)}`);
}
