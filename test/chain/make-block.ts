/** A block with what a test puts into its draft. */
import type { Block } from '../../src/block/block.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import type { MinerKey, PackLimits } from '../../src/chain/apply/produce-block.ts';
import type { Blockchain } from '../../src/chain/blockchain.ts';
import type { OwnDraft } from '../../src/chain/chain-writer.ts';

type Fill = (draft: BlockDraft, limits: PackLimits, block: OwnDraft) => unknown;

/** Puts nothing into the block where `fill` is absent. */
export const makeBlock = (
  blockchain: Pick<Blockchain, 'exclusive'>,
  key: MinerKey,
  timestamp: number,
  fill: Fill = () => undefined,
): Promise<Block> =>
  blockchain.exclusive(async (chain) => {
    const block = chain.begin(key, timestamp);
    await fill(block.draft, block.limits, block);
    return chain.finish(block);
  });
