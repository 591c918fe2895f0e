/** The store never waits for the crawler where the next rows are there. */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { crawlRange } from '../../../src/data-service/crawler/crawl-range.ts';
import { newCrawlState } from '../../../src/data-service/crawler/crawl-state.ts';
import { NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import {
  nothingKnown,
  prepareBatch,
  readCursor,
} from '../../../src/data-service/crawler/prepare-batch.ts';
import { NotContinuous } from '../../../src/data-service/crawler/store-end.ts';
import { writeBatch } from '../../../src/data-service/crawler/write-batch.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { noMeter } from '../no-meter.ts';
import { onBothStores } from '../stores.ts';

const EMPTY = { height: 0, signature: '' };
const BLOCKS = 30;
const clock = systemClock(undefined);

function grown(seed: string): MadeChain {
  const chain = madeChain({ seed, txsPerBlock: 40, accounts: 20 });
  chain.grow(BLOCKS);
  return chain;
}

async function readerOf(t: Test, chain: MadeChain): Promise<NodeReader> {
  const node = await madeNode(t, () => chain);
  const http = undiciClient();
  t.teardown(() => http.close());
  return new NodeReader({ urls: [node.url] }, { http, clock, failed() {} });
}

async function crawled(t: Test, db: Database, chain: MadeChain, turn = clock.turn) {
  const range = { after: EMPTY, to: BLOCKS, concurrency: 2, batchBlocks: 10, batchTx: 10_000 };
  let now = 0;
  const deps = {
    ...{ db, node: await readerOf(t, chain), log: memoryLog(), state: newCrawlState() },
    ...{ meter: noMeter, assertLocked() {} },
    // Each question takes a millisecond.
    clock: { ...clock, turn, monotonic: () => now++ },
  };
  await crawlRange(range, deps, new AbortController().signal);
  return deps.state;
}

await onBothStores(t, 'other work between the transactions of a batch', async (t, open) => {
  let turns = 0;
  const state = await crawled(t, await open(), grown('slices'), () => {
    turns++;
    return clock.turn();
  });
  t.match(state, { height: BLOCKS, blocks: BLOCKS });
  t.ok(turns > BLOCKS, `${turns} turns`);
});

await onBothStores(t, 'a batch is sent while another is written', async (t, open) => {
  const db = await open();
  let begun = 0;
  let underWay = 0;
  let most = 0;
  const hasSecond = Promise.withResolvers<void>();
  const late = setTimeout(hasSecond.resolve, 20_000);
  const transaction: Database['transaction'] = (work) =>
    db.transaction(async (queries) => {
      if (++begun === 2) hasSecond.resolve();
      most = Math.max(most, ++underWay);
      const isFirst = begun === 1;
      try {
        const result = await work(queries);
        if (isFirst && db.engine === 'postgres') await hasSecond.promise;
        return result;
      } finally {
        underWay--;
      }
    });
  const state = await crawled(t, { ...db, transaction }, grown('ahead'));
  clearTimeout(late);
  t.match(state, { height: BLOCKS, blocks: BLOCKS });
  t.equal(most, db.engine === 'postgres' ? 2 : 1);
  const [stored] = await db.query('SELECT count(*)::int AS n, max(height) AS last FROM blocks');
  t.strictSame(stored, { n: BLOCKS, last: BLOCKS });
});

await onBothStores(t, 'the rows follow without waiting for an answer', async (t, open) => {
  const db = await open();
  const steps: string[] = [];
  const transaction: Database['transaction'] = (work) =>
    db.transaction((queries) =>
      work({
        async query<R extends object>(...asked: Parameters<typeof queries.query>) {
          const rows = await queries.query<R>(...asked);
          steps.push('answer');
          return rows;
        },
        copy(...rows) {
          steps.push('copy');
          return queries.copy(...rows);
        },
      }),
    );
  await crawled(t, { ...db, transaction }, grown('at once'));
  t.equal(steps[0], 'copy');
});

await onBothStores(t, 'a batch that does not continue the store', async (t, open) => {
  const db = await open();
  const node = await readerOf(t, grown('twice'));
  const { blocks } = await node.blocks(1, 5);
  const cursor = await readCursor(db, EMPTY);
  const batch = await prepareBatch(db, blocks, cursor, nothingKnown(cursor));
  const writing = { bulk: false, now: clock.now(), removing: () => () => {} };
  let begun = 0;
  const write = () => writeBatch(db, batch, writing, () => begun++);
  await write();
  await t.rejects(write(), NotContinuous, 'and not because its rows are there already');
  t.equal(begun, 1);
  const [stored] = await db.query('SELECT count(*)::int AS n FROM blocks');
  t.strictSame(stored, { n: 5 });
});
