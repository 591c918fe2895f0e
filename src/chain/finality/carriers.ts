/** Which blocks say at a start what is justified and final (finality.md#votes). */
import { latin1 } from '../../base/bytes.ts';
import { madeFinal, type TrackedBlock } from '../../finality/tracked-block.ts';
import type { FinalityIndex } from './finality-index.ts';

/** Blocks with a justification that are read at the start. */
const CARRIERS_MAX = 1_000;

/**
 * The blocks that carry the highest justification above the final block, and that which makes the highest block
 * final; lowest first. Without a stored proof the latter is looked for in the whole chain.
 */
export function carriedAbove(
  final: number,
  index: FinalityIndex,
  isProved: boolean,
): TrackedBlock[] {
  const found: TrackedBlock[] = [];
  let looked = 0;
  for (const block of index.carriers()) {
    const { target } = block.carried ?? {};
    if (target === undefined || target.height <= final) break;
    const voted = index.get(latin1(target.id), target.height);
    const isFinalising = voted !== undefined && madeFinal(voted) !== undefined;
    if (found.length === 0 || isFinalising) found.unshift(block);
    looked += 1;
    if (isFinalising || (isProved && looked >= CARRIERS_MAX)) break;
  }
  return found;
}
