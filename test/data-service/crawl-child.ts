/** A crawler in a process of its own, to be killed: arguments are URL of the node and of the store. */
import { pgliteDatabase } from '../../src/adapters/database/pglite.ts';
import { postgresDatabase } from '../../src/adapters/database/postgres.ts';
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { systemClock, systemRandom } from '../../src/adapters/system.ts';
import { newCrawlState } from '../../src/data-service/crawler/crawl-state.ts';
import { startCrawler } from '../../src/data-service/crawler/crawler.ts';
import { NodeReader } from '../../src/data-service/crawler/node-reader.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import { memoryLog } from '../node/memory-ports.ts';
import { OPTIONS } from './crawling.ts';
import { noMeter } from './no-meter.ts';

const [url = '', database = '', bulk] = process.argv.slice(2);
const clock = systemClock(undefined);
const db = database.startsWith('pglite:')
  ? await pgliteDatabase(database.slice('pglite:'.length))
  : postgresDatabase({ url: database, poolSize: 2 });
await migrate(db, OPTIONS);
const crawler = startCrawler(
  { ...OPTIONS, batchBlocks: 100, pollMs: 100, wait: true, bulk: bulk === 'bulk' },
  {
    db,
    node: new NodeReader({ urls: [url] }, { http: undiciClient(), clock, failed: () => {} }),
    clock,
    random: systemRandom,
    log: memoryLog(),
    state: newCrawlState(),
    meter: noMeter,
  },
);
await crawler.ended;
