/** The step from a block to its child as the protocol describes it; a node reads both from its tables. */
import { latin1 } from '../../src/base/bytes.ts';
import { type BlockIndex, madeFinal, type TrackedBlock } from '../../src/finality/tracked-block.ts';
import { type BlockOfVoters, voterSetsAfter } from '../../src/finality/votes/entitled-voters.ts';
import type { Checkpoint } from '../../src/finality/votes/vote.ts';

/** What a block itself says, and the state after it. */
export interface BlockContent
  extends Pick<TrackedBlock, 'checkpoint' | 'timestamp' | 'score' | 'carried'>,
    Pick<BlockOfVoters, 'entitled'> {}

/** A child of a known block. Its justification, if it carries one, was judged (carried.ts). */
export function childOf(
  parent: TrackedBlock,
  { entitled, ...content }: BlockContent,
  blocks: BlockIndex,
): TrackedBlock {
  const { checkpoint, carried } = content;
  const proved = carried && provenFinal(carried.target, blocks);
  return {
    ...content,
    id: latin1(checkpoint.id),
    parent: parent.id,
    source: carried?.target ?? parent.source,
    deciding: parent.leaves,
    leaves: voterSetsAfter(parent.leaves, {
      height: checkpoint.height,
      entitled,
      provenFinal: proved?.height,
    }),
  };
}

/** The block that is final once the block `target` is justified, or undefined. */
function provenFinal(target: Checkpoint, blocks: BlockIndex): Checkpoint | undefined {
  const block = blocks.get(latin1(target.id), target.height);
  return block && madeFinal(block);
}
