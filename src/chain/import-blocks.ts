/**
 * Appends a stream of blocks with every check. Other threads verify the signatures of the next
 * blocks while this thread applies the current one. Many blocks share one commit, and the next
 * blocks are applied while it is being written.
 *
 * Invariants: blocks are applied strictly in order; the first bad block ends the import with all
 * blocks before it committed; at most one commit is being written, and the next one waits for it,
 * so that a failed commit is the last; memory is bounded by the signatures and bytes in flight.
 */
import { equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { Verifier } from '../base/ports.ts';
import { type Block, blockId } from '../block/block.ts';
import type { KeyedView } from '../ledger/head.ts';
import { allGood, type ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { Ahead } from './ahead.ts';
import type { AppliedBlock } from './block-applier.ts';
import type { Blockchain } from './blockchain.ts';
import { headerRowAt } from './stored-blocks.ts';
import { tipOf } from './tip.ts';
import { decodeTransactions, NOTHING_KNOWN, verifyBlock } from './verify-block.ts';

export const importLimits = {
  /** The number of signatures checked ahead of the block that is being applied. */
  checksAhead: 20_000,
  blocksAhead: 200,
  /** Commits after this many blocks … */
  blocksPerCommit: 50,
  /** … or this many changed rows. */
  rowsPerCommit: 20_000,
};

export interface ImportProgress {
  readonly height: number;
  readonly transactions: number;
}

export interface ImportOptions {
  /** The height of the first block of the stream. */
  readonly from: number;
  /**
   * False for blocks that this node has verified before; their signatures are not checked again.
   */
  readonly verify?: boolean;
  readonly onProgress?: (progress: ImportProgress) => void;
}

interface Prepared {
  readonly height: number;
  readonly block: Block;
  readonly txs: readonly Tx[];
  readonly verdicts: Promise<readonly ProofVerdicts[]>;
  /** The number of signatures that are being checked. */
  readonly checks: number;
}

/** Returns the number of transactions appended. Throws ApiError at the first bad block. */
export async function importBlocks(
  blockchain: Blockchain,
  verifier: Verifier,
  blocks: AsyncIterable<Block> | Iterable<Block>,
  options: ImportOptions,
): Promise<number> {
  const { view } = blockchain;
  const { scheme } = view;
  const waiting: Prepared[] = [];
  const ahead = new Ahead();
  let checksAhead = 0;
  let total = 0;
  let batch: AppliedBlock[] = [];
  let rows = 0;

  async function prepare(block: Block, height: number): Promise<Prepared> {
    const txs = await decodeTransactions(block, scheme);
    const verdicts =
      options.verify === false
        ? Promise.resolve(txs.map(allGood))
        : verifyBlock(block, txs, verifier, NOTHING_KNOWN);
    // The loop below awaits the verdicts; an earlier rejection must not end the process.
    verdicts.catch(() => undefined);
    const checks = txs.reduce((sum, tx) => sum + tx.proofs.length, 1);
    checksAhead += checks;
    return { height, block, txs, verdicts, checks };
  }

  function isStored(block: Block, height: number): boolean {
    const row = height <= blockchain.tip().height ? headerRowAt(view, height) : undefined;
    if (row === undefined) return false;
    if (equal(row.header.signature, blockId(block))) return true;
    throw apiError('Invalid', `Block ${height} differs from the one in the data directory`);
  }

  return blockchain.exclusive(async (inside) => {
    let tip = inside.tip();
    let base: KeyedView = view;
    let writing: Promise<void> | undefined;

    /** Begins to write the batch; resolves when the batch before is on disk. */
    async function flush(): Promise<void> {
      await writing;
      // The batch that was below this one is part of the head now.
      batch[0]?.overlay.rebase(view);
      writing = write(batch, { height: tip.height, transactions: total });
      // The next batch awaits this one; an earlier rejection must not end the process.
      writing.catch(() => undefined);
      batch = [];
      rows = 0;
    }

    async function write(blocks: readonly AppliedBlock[], progress: ImportProgress): Promise<void> {
      await inside.commit(blocks);
      for (const { height, txs } of blocks) ahead.drop(height, txs);
      options.onProgress?.(progress);
    }

    async function applyNext(): Promise<void> {
      const next = waiting.shift();
      if (next === undefined) return;
      const { block, txs, checks } = next;
      const verdicts = await next.verdicts;
      checksAhead -= checks;
      const applied = await inside.apply(base, tip, { block, txs, verdicts }, ahead);
      batch.push(applied);
      rows += applied.overlay.size + applied.txs.length;
      total += applied.txs.length;
      tip = tipOf(applied.height, applied.row);
      base = applied.overlay;
      ahead.add(applied.height, applied.row.header, applied.txs);
      const { blocksPerCommit, rowsPerCommit } = importLimits;
      if (batch.length >= blocksPerCommit || rows >= rowsPerCommit) await flush();
    }

    try {
      let height = options.from;
      for await (const block of blocks) {
        if (!isStored(block, height)) waiting.push(await prepare(block, height));
        height++;
        const { blocksAhead } = importLimits;
        while (waiting.length > blocksAhead || checksAhead > importLimits.checksAhead) {
          await applyNext();
        }
      }
      while (waiting.length > 0) await applyNext();
    } finally {
      await flush();
      await writing;
    }
    return total;
  });
}
