/**
 * The blocks of the own chain as finality sees them, and those of branches that this node has given up since
 * its start (finality.md#fork-choice).
 *
 * Invariant: a block is in it only once it is applied and on disk, so its justification was judged; what
 * is below the final block and its parent is forgotten.
 */
import { latin1 } from '../../base/bytes.ts';
import type { BlockIndex, TrackedBlock } from '../../finality/tracked-block.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { headerRowAt } from '../store/stored-blocks.ts';
import type { Tip } from '../tip.ts';
import { carriedBy } from './finality-rules.ts';
import { ChainBlocks, leavesAt } from './finality-state.ts';

export class FinalityIndex implements BlockIndex {
  private readonly view: LedgerView;
  private readonly root: number;
  private readonly blocks = new Map<string, TrackedBlock>();
  private head: { readonly tip: Tip; readonly block: TrackedBlock } | undefined;

  /** `root` is the height of the root; the head is at or above it. */
  constructor(view: LedgerView, root: number) {
    this.view = view;
    this.root = root;
  }

  get(id: string): TrackedBlock | undefined {
    return this.blocks.get(id);
  }

  /** The block of the own chain at a height from the root on; undefined where nobody votes. */
  add(height: number): TrackedBlock | undefined {
    const block = this.read(height);
    if (block !== undefined) this.blocks.set(block.id, block);
    return block;
  }

  /** That of the last block of the own chain. */
  at(tip: Tip): TrackedBlock | undefined {
    if (this.head?.tip === tip) return this.head.block;
    const block = this.read(tip.height);
    const known = block && (this.blocks.get(block.id) ?? block);
    if (known === undefined) return undefined;
    this.blocks.set(known.id, known);
    this.head = { tip, block: known };
    // Listeners of one commit may ask before all of its blocks were told.
    for (let at = known; at.checkpoint.height > known.source.height; ) {
      const parent = this.blocks.get(at.parent) ?? this.add(at.checkpoint.height - 1);
      if (parent === undefined) break;
      at = parent;
    }
    return known;
  }

  private read(height: number): TrackedBlock | undefined {
    const row = headerRowAt(this.view, height);
    const leaves = leavesAt(this.view, height);
    if (row === undefined || leaves === undefined || height < this.root) return undefined;
    const chain = new ChainBlocks(this.view, new Map(), this.root);
    const checkpoint = chain.checkpoint(height);
    const isRoot = height === this.root;
    const carried = carriedBy(row.header, this.view.scheme);
    return {
      id: latin1(checkpoint.id),
      checkpoint,
      parent: height === 1 ? '' : latin1(chain.checkpoint(height - 1).id),
      timestamp: row.header.timestamp,
      score: row.score,
      source: isRoot ? checkpoint : chain.source(height),
      deciding: isRoot ? leaves : (leavesAt(this.view, height - 1) ?? leaves),
      leaves,
      carried: carried && { ...carried, target: { ...carried.target } },
    };
  }

  /** The lowest height that finality needs: that of the parent of the final block or of the source. */
  static lowest(final: number, source: number): number {
    return Math.min(final, source) - 1;
  }

  /** What is below the final block, and below the source of the head. */
  forgetBelow(height: number): void {
    for (const [id, { checkpoint }] of this.blocks) {
      if (checkpoint.height < height) this.blocks.delete(id);
    }
  }
}
