/** Which blocks say at a start what is justified and final (finality.md#votes). */
import { latin1 } from '../../base/bytes.ts';
import { isProofBy } from '../../finality/proofs/final-proof.ts';
import { madeFinal, type TrackedBlock } from '../../finality/tracked-block.ts';
import type { FinalBlock } from '../../finality/tracker.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { storedFinalProof } from './final-floor.ts';
import type { FinalityIndex } from './finality-index.ts';

/** Blocks with a justification that are read at the start. */
const CARRIERS_MAX = 1_000;

/**
 * The final block that is on disk. Without its proof where operators have named other voters since: it says nothing
 * to nodes that have their entry.
 */
export function storedFinal(view: LedgerView, index: FinalityIndex): FinalBlock | undefined {
  const proof = storedFinalProof(view, view.scheme);
  if (proof === undefined) return undefined;
  const { source } = proof.link;
  const block = index.get(latin1(source.id), source.height);
  const isOfOthers = block !== undefined && !isProofBy(proof, block.leaves, view.scheme);
  return isOfOthers ? source : { ...source, proof };
}

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
