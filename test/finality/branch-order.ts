/** Which branch a toy node follows (finality.md#fork-choice), by what its tracker knows. */
import { compare, equal } from '../../src/base/bytes.ts';
import {
  ancestorAt,
  type BlockIndex,
  type TrackedBlock,
} from '../../src/finality/tracked-block.ts';
import type { Tracker } from '../../src/finality/tracker.ts';

/** Whether a chain with this last block keeps the final block. */
export function isAboveFinal(block: TrackedBlock, { final }: Tracker, blocks: BlockIndex): boolean {
  const at = ancestorAt(block, final.height, blocks);
  return at !== undefined && equal(at.checkpoint.id, final.id);
}

/** Positive where the chain that ends with `a` is the better one of two that differ. */
export function compareBranches(a: TrackedBlock, b: TrackedBlock, tracker: Tracker): number {
  const byJustified = highestJustified(a, tracker) - highestJustified(b, tracker);
  if (byJustified !== 0) return byJustified;
  if (a.score !== b.score) return a.score > b.score ? 1 : -1;
  return compare(b.checkpoint.id, a.checkpoint.id);
}

const highestJustified = (block: TrackedBlock, tracker: Tracker): number =>
  tracker.justifiedBelow(block, tracker.final.height)?.height ?? tracker.final.height;
