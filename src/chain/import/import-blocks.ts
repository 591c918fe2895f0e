/**
 * Appends a stream of blocks with every check. Other threads verify the signatures of the next
 * blocks while this thread applies the current one. Many blocks share one commit, and the next
 * blocks are applied while it is being written.
 *
 * Invariants: blocks are applied strictly in order; the first bad block ends the import with all
 * blocks before it committed; at most one commit is being written, and the next one waits for it,
 * so that a failed commit is the last; memory is bounded by the signatures and bytes in flight.
 */
import { assert } from '../../base/assert.ts';
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import { type Block, blockId } from '../../block/block.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { withMembers } from '../../tx/members.ts';
import type { CheckLoad } from '../../tx/proof-verdicts.ts';
import type { AppliedBlock } from '../apply/block-applier.ts';
import { ChecksRoom, isTooMuch, NO_LOAD, plus, roomLimits } from '../apply/checks-room.ts';
import {
  type CheckedBlock,
  composeChecks,
  decodeTransactions,
  NOTHING_KNOWN,
  type ReplayedBlock,
  type VerifiedBlock,
} from '../apply/verify-block.ts';
import type { Blockchain } from '../blockchain.ts';
import type { ChainWriter } from '../chain-writer.ts';
import { headerRowAt, transactionsAt } from '../store/stored-blocks.ts';
import { AppliedRun } from './applied-run.ts';
import { IdFilter } from './id-filter.ts';
import type { UncommittedBlocks } from './uncommitted-blocks.ts';

export const importLimits = {
  /** Checked ahead of the block that is being applied. */
  ...roomLimits,
  blocksAhead: 200,
  /** Commits after this many blocks … */
  blocksPerCommit: 50,
  /** … or this many changed rows. */
  rowsPerCommit: 20_000,
};

const GENESIS_HEIGHT = 1;

export interface ImportProgress {
  readonly height: number;
  readonly transactions: number;
}

export interface ImportOptions {
  /** The height of the first block of the stream. */
  readonly from: number;
  readonly onProgress?: (progress: ImportProgress) => void;
}

/** Returns the number of transactions appended. Throws ApiError at the first bad block, and the error
 * with which the stream ends. */
export const importBlocks = (
  blockchain: Blockchain,
  verifier: Verifier,
  blocks: AsyncIterable<Block> | Iterable<Block>,
  options: ImportOptions,
): Promise<number> =>
  append(blockchain, (slice) => new ChecksAhead(blockchain.view, slice, verifier), blocks, options);

/**
 * The same for blocks that this node has verified before, as the state rules alone judge them. No
 * signature is checked, so blocks from elsewhere must never come here.
 */
export const replayBlocks = (
  blockchain: Blockchain,
  blocks: AsyncIterable<Block> | Iterable<Block>,
  options: ImportOptions,
): Promise<number> =>
  append(blockchain, (slice) => new Replay(blockchain.view.scheme, slice), blocks, options);

function append(
  blockchain: Blockchain,
  queueIn: (slice: TimeSlice) => Queue,
  blocks: AsyncIterable<Block> | Iterable<Block>,
  options: ImportOptions,
): Promise<number> {
  const { view } = blockchain;
  return blockchain.exclusive(async (chain) => {
    const queue = queueIn(chain.slice);
    const tip = chain.tip();
    const run = new AppliedRun(chain, tip, view, filterOf(view, tip.height));
    const commits = new BatchedCommits(chain, view, run.uncommitted, options.onProgress);
    let isRefused = false;
    const applyNext = async (): Promise<void> => {
      try {
        await commits.add(await run.apply(await queue.next()));
      } catch (cause) {
        isRefused = true;
        throw cause;
      }
    };
    try {
      try {
        let height = options.from;
        for await (const block of blocks) {
          if (!isStored(block, height, blockchain)) await queue.add(block);
          height++;
          while (queue.isLong()) await applyNext();
        }
      } finally {
        // Also where the stream ends with an error: the blocks before it are good.
        while (queue.blocks > 0 && !isRefused) await applyNext();
      }
    } finally {
      await commits.end();
    }
    return commits.transactions;
  });
}

/**
 * The ids of a chain that has its genesis block only. Those of a longer chain would all have to be
 * read, which costs more than looking up the ids of a short import.
 */
function filterOf(view: LedgerView, height: number): IdFilter | undefined {
  if (height !== GENESIS_HEIGHT) return undefined;
  const filter = new IdFilter();
  for (const { id } of withMembers(transactionsAt(view, height))) filter.add(id);
  return filter;
}

/** Throws ApiError where another block is stored at this height. */
function isStored(block: Block, height: number, blockchain: Blockchain): boolean {
  const isThere = height <= blockchain.tip().height;
  const row = isThere ? headerRowAt(blockchain.view, height) : undefined;
  if (row === undefined) return false;
  if (equal(row.header.signature, blockId(block))) return true;
  throw apiError('Invalid', `Block ${height} differs from the one in the data directory`);
}

/** The next blocks of the stream. */
interface Queue {
  readonly blocks: number;
  /** True where the next one should be taken before more are added. */
  isLong(): boolean;
  add(block: Block): Promise<void>;
  /** Throws ApiError where the signature of the block is wrong. */
  next(): Promise<VerifiedBlock | ReplayedBlock>;
}

/** There is nothing to wait for, and what waits only fills memory. */
class Replay implements Queue {
  private readonly scheme: ChainScheme;
  private readonly slice: TimeSlice;
  private readonly queue: ReplayedBlock[] = [];

  constructor(scheme: ChainScheme, slice: TimeSlice) {
    this.scheme = scheme;
    this.slice = slice;
  }

  get blocks(): number {
    return this.queue.length;
  }

  isLong(): boolean {
    return this.blocks > 0;
  }

  async add(block: Block): Promise<void> {
    const txs = await decodeTransactions(block, this.scheme, this.slice);
    this.queue.push({ block, txs, verdicts: undefined });
  }

  async next(): Promise<ReplayedBlock> {
    const next = this.queue.shift();
    assert(next !== undefined, 'the next block is asked for where there is one');
    return next;
  }
}

interface Queued extends CheckedBlock {
  /** The load of the checks that were asked for. */
  readonly load: CheckLoad;
}

/** Blocks whose signatures are being checked. */
class ChecksAhead implements Queue {
  private readonly view: KeyedView;
  private readonly slice: TimeSlice;
  private readonly verifier: Verifier;
  private readonly queue: Queued[] = [];
  /** The load of the blocks in the queue. */
  private queued: CheckLoad = NO_LOAD;
  private readonly room = new ChecksRoom(importLimits);

  constructor(view: KeyedView, slice: TimeSlice, verifier: Verifier) {
    this.view = view;
    this.slice = slice;
    this.verifier = verifier;
  }

  get blocks(): number {
    return this.queue.length;
  }

  isLong(): boolean {
    return this.queue.length > importLimits.blocksAhead || isTooMuch(this.queued, importLimits);
  }

  async add(block: Block): Promise<void> {
    const { view, slice } = this;
    const txs = await decodeTransactions(block, view.scheme, slice);
    const load = await composeChecks(block, txs, NOTHING_KNOWN, view, slice);
    await this.room.enter(load);
    const verdicts = load.ask(this.verifier).finally(() => this.room.leave(load));
    // `next` awaits the verdicts; an earlier rejection must not end the process.
    verdicts.catch(() => undefined);
    this.queued = plus(this.queued, load, 1);
    this.queue.push({ block, txs, verdicts, load });
  }

  async next(): Promise<VerifiedBlock> {
    const next = this.queue.shift();
    assert(next !== undefined, 'the next block is asked for where there is one');
    const { block, txs, load } = next;
    const verdicts = await next.verdicts;
    this.queued = plus(this.queued, load, -1);
    return { block, txs, verdicts };
  }
}

/** Writes many blocks with one commit; the next blocks are applied meanwhile. */
class BatchedCommits {
  /** The number of transactions of all blocks so far. */
  transactions = 0;
  private readonly chain: ChainWriter;
  private readonly view: KeyedView;
  private readonly uncommitted: UncommittedBlocks;
  private readonly onProgress: ImportOptions['onProgress'];
  private batch: AppliedBlock[] = [];
  /** The number of changed rows of the batch. */
  private rows = 0;
  private height: number;
  private writing: Promise<void> | undefined;

  constructor(
    chain: ChainWriter,
    view: KeyedView,
    uncommitted: UncommittedBlocks,
    onProgress: ImportOptions['onProgress'],
  ) {
    this.chain = chain;
    this.view = view;
    this.uncommitted = uncommitted;
    this.onProgress = onProgress;
    this.height = chain.tip().height;
  }

  async add(block: AppliedBlock): Promise<void> {
    this.batch.push(block);
    this.height = block.height;
    this.rows += block.overlay.size + block.txs.length;
    this.transactions += block.txs.length;
    const { blocksPerCommit, rowsPerCommit } = importLimits;
    if (this.batch.length >= blocksPerCommit || this.rows >= rowsPerCommit) await this.flush();
  }

  /** Resolves when all blocks are on disk. */
  async end(): Promise<void> {
    await this.flush();
    await this.writing;
  }

  /** Begins to write the batch; resolves when the batch before is on disk. */
  private async flush(): Promise<void> {
    await this.writing;
    // The batch that was below this one is part of the head now.
    this.batch[0]?.overlay.rebase(this.view);
    const { height, transactions } = this;
    this.writing = this.write(this.batch, { height, transactions });
    // The next batch awaits this one; an earlier rejection must not end the process.
    this.writing.catch(() => undefined);
    this.batch = [];
    this.rows = 0;
  }

  private async write(blocks: readonly AppliedBlock[], progress: ImportProgress): Promise<void> {
    await this.chain.commit(blocks);
    for (const { height, ids } of blocks) this.uncommitted.drop(height, ids);
    this.onProgress?.(progress);
  }
}
