/** Applies consecutive blocks, each on top of the one before. Commits nothing. */
import type { KeyedView } from '../../ledger/committed-view.ts';
import type { AppliedBlock } from '../apply/block-applier.ts';
import type { ReplayedBlock, VerifiedBlock } from '../apply/verify-block.ts';
import type { ChainWriter } from '../chain-writer.ts';
import { type Tip, tipOf } from '../tip.ts';
import type { IdFilter } from './id-filter.ts';
import { UncommittedBlocks } from './uncommitted-blocks.ts';

export class AppliedRun {
  readonly uncommitted: UncommittedBlocks;
  /** The last applied block; before the first, their parent. */
  tip: Tip;
  private base: KeyedView;
  private readonly chain: Pick<ChainWriter, 'apply'>;

  /** `base` is the state at `parent`; `filter` holds all ids of the chain up to there. */
  constructor(chain: Pick<ChainWriter, 'apply'>, parent: Tip, base: KeyedView, filter?: IdFilter) {
    this.uncommitted = new UncommittedBlocks(filter);
    this.chain = chain;
    this.tip = parent;
    this.base = base;
  }

  /** Throws ApiError where the block breaks a rule. */
  async apply(block: VerifiedBlock | ReplayedBlock): Promise<AppliedBlock> {
    const applied = await this.chain.apply(this.base, this.tip, block, this.uncommitted);
    this.base = applied.overlay;
    this.tip = tipOf(applied.height, applied.row);
    this.uncommitted.add(applied.height, applied.row.header, applied.ids);
    return applied;
  }
}
