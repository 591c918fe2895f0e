/**
 * What finality knows of a block, and a port to the block index.
 *
 * Invariant: everything here is a function of the block and its ancestors, so that it can be stored with
 * the block, and all nodes that have the block agree on it.
 */
import type { Justification } from './proofs/justification.ts';
import { makesSourceFinal } from './votes/links.ts';
import type { Checkpoint } from './votes/vote.ts';
import type { VoterSet } from './votes/voter-set.ts';
import type { VoterSets } from './votes/voter-sets.ts';

export interface TrackedBlock {
  /** `checkpoint.id` as a text of one character for each byte. */
  readonly id: string;
  readonly checkpoint: Checkpoint;
  readonly parent: string;
  readonly timestamp: number;
  /** Score of the chain that ends with the block. */
  readonly score: bigint;
  /** The source of votes for this block. */
  readonly source: Checkpoint;
  /** The sets that decide on it, which its parent leaves. */
  readonly deciding: VoterSets<VoterSet>;
  /** The sets that this block leaves to its children. */
  readonly leaves: VoterSets<VoterSet>;
  /** The justification in its body. */
  readonly carried: Justification | undefined;
  /** Operators have named who decides on its children, and did not vote for it themselves. */
  readonly isOverridden?: boolean;
}

/** Applied blocks, at least those from the final block on. */
export interface BlockIndex {
  /** `height` is that of the block. */
  get(id: string, height: number): TrackedBlock | undefined;
  /** The ancestor at a height below that of the block, where that takes no walk. */
  readonly ancestor?: (block: TrackedBlock, height: number) => TrackedBlock | undefined;
}

/** The block that is final once this one is justified: its parent, if that is the source. */
export const madeFinal = ({ source, checkpoint }: TrackedBlock): Checkpoint | undefined =>
  makesSourceFinal({ source: source.height, target: checkpoint.height }) ? source : undefined;

/** The ancestor at a height not above the block; the block itself at its own height. */
export function ancestorAt(
  block: TrackedBlock,
  height: number,
  blocks: BlockIndex,
): TrackedBlock | undefined {
  let at: TrackedBlock | undefined = block;
  while (at !== undefined && at.checkpoint.height > height) {
    const found = blocks.ancestor?.(at, height);
    if (found !== undefined) return found;
    at = parentOf(at, blocks);
  }
  return at;
}

export const parentOf = (
  { parent, checkpoint }: TrackedBlock,
  blocks: BlockIndex,
): TrackedBlock | undefined => blocks.get(parent, checkpoint.height - 1);
