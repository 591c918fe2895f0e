/** Blocks whose rows are long: batches end by bytes, and COPY comes in pieces. */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { MIB } from '../../../src/base/limits/budget.ts';
import type { Database } from '../../../src/base/ports/database.ts';
import { NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { readCursor } from '../../../src/data-service/crawler/prepare-batch.ts';
import { readTip } from '../../../src/data-service/crawler/store-end.ts';
import { writeParts } from '../../../src/data-service/crawler/write-batch.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { digest, onBothStores } from '../stores.ts';

const ENTRIES = 8;
const VALUE_CHARS = 15_000;
const TXS = 5;
const LINE_END = 10;

/** Each block has some transactions whose data are control characters, six bytes of JSON each. */
function fullChain(seed: string, blocks: number): MadeChain {
  const plain = madeChain({ seed, txsPerBlock: 1, accounts: 5 });
  plain.grow(blocks);
  const value = '\u0001'.repeat(VALUE_CHARS);
  const tx = (height: number, i: number) => ({
    id: `data ${plain.signature(height)} ${i}`,
    type: 12,
    version: 1,
    sender: 'sender',
    fee: 1,
    timestamp: height,
    proofs: [],
    height,
    data: Array.from({ length: ENTRIES }, (_, key) => ({ key: `${key}`, type: 'string', value })),
  });
  return {
    ...plain,
    block(height) {
      const block = plain.block(height);
      if (block === undefined || height < 3) return block;
      return { ...block, transactions: Array.from({ length: TXS }, (_, i) => tx(height, i)) };
    },
  };
}

/** Rows and bytes of each COPY, and bytes of all of each transaction. */
function weighed(db: Database) {
  const copied: { readonly table: string; readonly rows: number; readonly bytes: number }[] = [];
  const batches: number[] = [];
  const transaction: Database['transaction'] = (work) =>
    db.transaction((queries) => {
      let bytes = 0;
      const weighing = { ...queries };
      weighing.copy = (table, columns, rows) => {
        const lines = rows.reduce((sum, byte) => sum + (byte === LINE_END ? 1 : 0), 0);
        copied.push({ table, rows: lines, bytes: rows.length });
        bytes += rows.length;
        return queries.copy(table, columns, rows);
      };
      return work(weighing).finally(() => batches.push(bytes));
    });
  return { db: { ...db, transaction }, copied, batches };
}

/** So many that their rows are two batches. */
const BLOCKS = 7;
const BLOCK_BYTES = TXS * ENTRIES * VALUE_CHARS * 9;

await onBothStores(t, 'blocks of control characters', async (t, open) => {
  const chain = fullChain('full', BLOCKS);
  const node = await madeNode(t, () => chain);
  const { db, copied, batches } = weighed(await open());
  const crawler = crawl(t, db, [node.url], { batchBlocks: 100 });
  await crawler.reached(BLOCKS + 1, chain.signature(BLOCKS + 1));
  const [stored] = await db.query<{ n: string; chars: string }>(
    'SELECT count(*) AS n, sum(length(value)) AS chars FROM data_entries',
  );
  const entries = (BLOCKS - 1) * TXS * ENTRIES;
  t.match(stored, { n: String(entries), chars: String(entries * VALUE_CHARS) });
  t.ok(Math.max(...batches) < 16 * MIB + BLOCK_BYTES, `${Math.max(...batches)} bytes of a batch`);
  // The body of a transaction is one line.
  const line = ENTRIES * VALUE_CHARS * 8;
  const longest = Math.max(...copied.map(({ bytes }) => bytes));
  t.ok(longest < MIB + line, `${longest} bytes of a COPY`);
});

await onBothStores(t, 'blocks whose JSON is much longer than their rows', async (t, open) => {
  const plain = madeChain({ seed: 'padded', txsPerBlock: 1, accounts: 5 });
  const blocks = 24;
  plain.grow(blocks);
  const padding = 'p'.repeat(MIB);
  const chain: MadeChain = {
    ...plain,
    block(height) {
      const block = plain.block(height);
      return block && { ...block, padding };
    },
  };
  const node = await madeNode(t, () => chain);
  const { db, copied } = weighed(await open());
  const crawler = crawl(t, db, [node.url], { batchBlocks: 100 });
  await crawler.reached(blocks + 1, chain.signature(blocks + 1));
  const counts = copied.filter(({ table }) => table === 'blocks').map(({ rows }) => rows);
  t.equal(
    counts.reduce((sum, rows) => sum + rows, 0),
    blocks + 1,
  );
  t.ok(Math.max(...counts) <= 17, `${counts} blocks wait for their batches`);
});

/** A node none of whose answers holds more than so many transactions of block 4, or of any. */
async function nodeInParts(t: Test, chain: MadeChain, most: number, failing: { times: number }) {
  const tooBig = { status: 413, type: 'application/json', body: '{"error":413,"message":"big"}' };
  const parts: string[] = [];
  const node = await madeNode(t, () => chain, {
    instead(path) {
      const [, from, to] = /^\/blocks\/seqext\/(\d+)\/(\d+)$/.exec(path) ?? [];
      if (Number(from) <= 4 && Number(to) >= 4) return tooBig;
      const [, offset, limit] = /^\/blocks\/at\/4\?offset=(\d+)&limit=(\d+)$/.exec(path) ?? [];
      if (limit === undefined) return undefined;
      if (Number(limit) > most) return tooBig;
      if (Number(offset) > most && failing.times-- > 0) return { ...tooBig, status: 500 };
      parts.push(path);
      return undefined;
    },
  });
  return { url: node.url, parts };
}

await onBothStores(t, 'the parts of a block, one after the other', async (t, open) => {
  // So many accounts that several parts of block 4 name the same new ones.
  const chain = madeChain({ seed: 'parts', txsPerBlock: 300, accounts: 2000 });
  chain.grow(3);
  const crawled = async (height: number): Promise<Database> => {
    const node = await madeNode(t, () => ({ ...chain, height: () => height }));
    const db = await open();
    const crawler = crawl(t, db, [node.url]);
    await crawler.reached(height, chain.signature(height));
    await crawler.stop();
    return db;
  };
  const rowsIn = async (db: Database) => ({ ...(await digest(db)), balances: '' });
  const [whole, db] = [await crawled(4), await crawled(3)];
  const { url } = await nodeInParts(t, chain, 100, { times: 0 });
  const http = undiciClient();
  t.teardown(() => http.close());
  const clock = systemClock(undefined);
  const reader = new NodeReader({ urls: [url] }, { http, clock, failed() {} });
  const { blocks } = await reader.blocks(4, 4);
  const writing = { bulk: false, now: clock.now(), removing: () => () => {} };
  let parts = 0;
  const after = await readCursor(db, await readTip(db));
  const count = (): void => void parts++;
  const written = await writeParts(db, blocks[0]!, after, writing, count).catch((cause) => cause);
  t.match(written, { next: { height: 4, signature: chain.signature(4) } });
  t.equal(parts, 5, 'three hundred in parts of 63');
  t.strictSame(await rowsIn(db), await rowsIn(whole), 'as if they were one');
});

await onBothStores(t, 'a block that no answer can hold', async (t, open) => {
  // So many accounts that several parts of block 4 name the same new ones.
  const chain = madeChain({ seed: 'parts', txsPerBlock: 300, accounts: 2000 });
  chain.grow(5);
  const whole = await open();
  const plain = await madeNode(t, () => chain);
  const ordinary = crawl(t, whole, [plain.url]);
  const db = await open();
  const failing = { times: 1 };
  const { url, parts } = await nodeInParts(t, chain, 100, failing);
  const crawler = crawl(t, db, [url]);
  const areEqual = async (what: string): Promise<void> => {
    const [height, signature] = [chain.height(), chain.signature(chain.height())];
    await Promise.all([ordinary, crawler].map((one) => one.reached(height, signature)));
    t.strictSame(await digest(db), await digest(whole), what);
  };
  await areEqual('also where the node fails in the middle');
  t.ok(failing.times < 0);
  const again = parts.length;
  chain.reorganise(4);
  await areEqual('also in the place of another block');
  t.equal(parts.length - again, 5, 'three hundred in parts of 63');
});
