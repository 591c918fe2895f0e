/**
 * Brings the store up to a height: fetches blocks ahead, makes the rows of the next batch while one
 * is written, and writes the batches one after the other.
 */

import type { Database } from '../../base/database.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { ChainBlock } from './chain-block.ts';
import type { CrawlState } from './crawl-state.ts';
import { fetchBlocks } from './fetch-blocks.ts';
import type { CrawlMeter } from './meter.ts';
import type { NodeReader } from './node-reader.ts';
import {
  BATCH_BYTES,
  type Batch,
  type KnownRows,
  nothingKnown,
  prepareBatch,
  readCursor,
} from './prepare-batch.ts';
import type { Tip } from './store-end.ts';
import { writeBatch } from './write-batch.ts';

export interface CrawlRange {
  /** The last stored block that stays. */
  readonly after: Tip;
  /** Where the store ends now, if the blocks above `after` are to be removed. */
  readonly replaced?: Tip | undefined;
  readonly to: number;
  readonly concurrency: number;
  /** Limits of one batch. */
  readonly batchBlocks: number;
  readonly batchTx: number;
}

export interface CrawlRangeDeps {
  readonly db: Database;
  readonly node: NodeReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly state: CrawlState;
  readonly meter: CrawlMeter;
  /** Throws LockLost once another process may write. */
  readonly assertLocked: () => void;
}

/** Bounds the memory for names that were met: a hundred bytes each. */
const KNOWN_MAX = 200_000;

/** Rejects with the failure of the store or of the node; what was written until then stays. */
export async function crawlRange(
  { after, replaced, to, concurrency, batchBlocks, batchTx }: CrawlRange,
  deps: CrawlRangeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { db, node, state, meter } = deps;
  const fetching = { after, to, rangeMax: batchBlocks, concurrency };
  let toReplace = replaced;
  let cursor = await readCursor(db, after);
  let known = nothingKnown(cursor);
  let writing: Promise<void> = Promise.resolve();
  let blocks: ChainBlock[] = [];
  let txs = 0;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    while (blocks.length > 0) await writeSome();
    txs = 0;
    bytes = 0;
  };
  const writeSome = async (): Promise<void> => {
    if (sizeOf(known) > KNOWN_MAX) {
      // Only what is written can be looked up again.
      await writing;
      known = nothingKnown(cursor);
    }
    const batch = await prepareBatch(db, blocks, cursor, known);
    await writing;
    writing = write(batch, toReplace, deps);
    // It is waited for above, or at the end.
    writing.catch(() => undefined);
    toReplace = undefined;
    cursor = batch.next;
    blocks = blocks.slice(batch.blocks.length);
  };
  try {
    for await (const portion of fetchBlocks(node, fetching, meter)) {
      state.waitingBytes = portion.waiting;
      for (const block of portion.blocks) {
        const isFull =
          blocks.length >= batchBlocks ||
          txs + block.transactions.length > batchTx ||
          bytes >= BATCH_BYTES;
        if (isFull) await flush();
        if (signal.aborted) return;
        blocks.push(block);
        txs += block.transactions.length;
        bytes += portion.bytes / portion.blocks.length;
      }
    }
    await flush();
  } finally {
    await writing;
  }
}

const sizeOf = ({ aliases, lessees, users, marked }: KnownRows): number =>
  aliases.size + lessees.size + users.size + marked.size;

async function write(batch: Batch, replaced: Tip | undefined, deps: CrawlRangeDeps) {
  const { db, state, clock, log, meter, assertLocked } = deps;
  assertLocked();
  const written = meter.writing();
  const { bulk } = state;
  await writeBatch(db, batch, { bulk, replaced, now: clock.now(), removing: meter.removing });
  written();
  const { blocks, rows } = batch;
  state.height = batch.next.height;
  state.lastBlock = blocks.at(-1)?.timestamp ?? state.lastBlock;
  state.blocks += blocks.length;
  state.unknownTxs += rows.unknown;
  for (const [type, count] of rows.typeCounts) {
    state.txs += count;
    meter.written(type, count);
  }
  meter.wrote(blocks.length, rows.unknown);
  for (const id of rows.changed) log.warn('crawl.text-changed', { id });
}
