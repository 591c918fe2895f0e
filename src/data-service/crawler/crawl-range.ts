/**
 * Brings the store up to a height: fetches blocks ahead, makes the rows of the next batch while one
 * is written, and writes the batches one after the other. A batch is sent while the one before it is
 * written: the server makes it wait for that one, and goes on without asking this process.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Database } from '../../base/ports/database.ts';
import type { Log } from '../../base/ports/log.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { ChainBlock } from './chain-block.ts';
import { type CrawlState, gotOn } from './crawl-state.ts';
import { fetchBlocks } from './fetch-blocks.ts';
import type { CrawlMeter } from './meter.ts';
import type { NodeReader } from './node-reader.ts';
import {
  BATCH_BYTES,
  type Batch,
  type Cursor,
  type KnownRows,
  nothingKnown,
  prepareBatch,
  readCursor,
} from './prepare-batch.ts';
import type { Tip } from './store-end.ts';
import { inOrder, type Writing, type WrittenParts, writeBatch, writeParts } from './write-batch.ts';

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
  let writing: Write = { begun: Promise.resolve(), done: Promise.resolve(), isOver: true };
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
      await writing.done;
      known = nothingKnown(cursor);
    }
    const batch = await prepareBatch(db, blocks, cursor, known, new TimeSlice(deps.clock));
    await writing.begun;
    writing = write(batch, toReplace, writing, deps);
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
        const isLong = block.further !== undefined;
        if (isFull || isLong) await flush();
        if (signal.aborted) return;
        if (isLong) {
          await writing.done;
          const written = await writeLong(block, { cursor, replaced: toReplace }, deps, signal);
          if (written === undefined) return;
          toReplace = undefined;
          cursor = written;
          known = nothingKnown(cursor);
          continue;
        }
        blocks.push(block);
        txs += block.transactions.length;
        bytes += portion.bytes / portion.blocks.length;
      }
      // The store does not wait until a batch is full.
      if (writing.isOver) await flush();
    }
    await flush();
  } finally {
    await writing.done;
  }
}

const sizeOf = ({ aliases, lessees, users, marked }: KnownRows): number =>
  aliases.size + lessees.size + users.size + marked.size;

interface At {
  readonly cursor: Cursor;
  readonly replaced: Tip | undefined;
}

class Stopped extends Error {}

/** A batch of its own. Undefined where the crawler is stopped before its end. */
async function writeLong(
  block: ChainBlock,
  { cursor, replaced }: At,
  deps: CrawlRangeDeps,
  signal: AbortSignal,
): Promise<Cursor | undefined> {
  const assertGoesOn = (): void => {
    deps.assertLocked();
    if (signal.aborted) throw new Stopped();
  };
  const written = deps.meter.writing();
  try {
    const how = writingNow(replaced, deps);
    const { next, rows } = await writeParts(deps.db, block, cursor, how, assertGoesOn);
    written();
    note([block], next, rows, deps);
    return next;
  } catch (cause) {
    if (cause instanceof Stopped) return undefined;
    throw cause;
  }
}

interface Write {
  isOver: boolean;
  /** The batches before it are written, and nobody else can write before it. Rejects as `done`. */
  readonly begun: Promise<void>;
  /** It is written, too. */
  readonly done: Promise<void>;
}

function write(
  batch: Batch,
  replaced: Tip | undefined,
  before: Write,
  deps: CrawlRangeDeps,
): Write {
  deps.assertLocked();
  const begun = Promise.withResolvers<void>();
  let written = (): void => undefined;
  const own = writeBatch(deps.db, batch, writingNow(replaced, deps), () => {
    written = deps.meter.writing();
    // With one connection a question would wait for two batches.
    if (deps.db.engine === 'postgres') begun.resolve();
  });
  const done = inOrder(before.done, own).then(() => {
    underWay.isOver = true;
    written();
    note(batch.blocks, batch.next, [batch.rows], deps);
  });
  const underWay = { begun: Promise.race([begun.promise, done]), done, isOver: false };
  // They are waited for before the next batch, or at the end.
  for (const one of [underWay.begun, done]) one.catch(() => undefined);
  return underWay;
}

const writingNow = (
  replaced: Tip | undefined,
  { state, clock, meter }: CrawlRangeDeps,
): Writing => ({ bulk: state.bulk, replaced, now: clock.now(), removing: meter.removing });

function note(
  blocks: readonly ChainBlock[],
  next: Cursor,
  written: WrittenParts['rows'],
  { state, log, meter }: CrawlRangeDeps,
): void {
  gotOn(state);
  state.height = next.height;
  state.lastBlock = blocks.at(-1)?.timestamp ?? state.lastBlock;
  state.blocks += blocks.length;
  let unknown = 0;
  for (const rows of written) {
    unknown += rows.unknown;
    for (const [type, count] of rows.typeCounts) {
      state.txs += count;
      meter.written(type, count);
    }
    for (const id of rows.changed) log.warn('crawl.text-changed', { id });
  }
  state.unknownTxs += unknown;
  meter.wrote(blocks.length, unknown);
}
