/**
 * Collects what an offline proof needs from a chain (proofs/offline-proof.ts). It walks the chain from its head
 * down to the trusted block.
 */
import { latin1 } from '../../src/base/bytes.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { voteFor } from '../../src/finality/carried.ts';
import type { ProofStep, TrustedCheckpoint } from '../../src/finality/proofs/offline-proof.ts';
import {
  ancestorAt,
  type BlockIndex,
  madeFinal,
  parentOf,
  type TrackedBlock,
} from '../../src/finality/tracked-block.ts';
import type { FinalBlock } from '../../src/finality/tracker.ts';
import { decidingOn } from '../../src/finality/votes/voter-set.ts';

export interface ProvenChain {
  readonly blocks: BlockIndex;
  readonly head: TrackedBlock;
  /** The highest final block that is known, by votes or otherwise. */
  readonly final: FinalBlock;
}

/** The steps that prove a block of this chain; undefined while nothing at or above it is final. */
export function stepsTo(
  height: number,
  trusted: TrustedCheckpoint,
  chain: ProvenChain,
  scheme: ChainScheme,
): ProofStep[] | undefined {
  const proofs = proofsOf(chain, trusted, scheme);
  const end = proofs.findIndex(({ link }) => link.source.height >= height);
  const last = proofs[end];
  if (last === undefined) return undefined;
  // Of each change that is complete there, the first proof that both sets gave.
  const completions = new Map<number, ProofStep>();
  for (const proof of proofs.slice(0, end)) {
    const { change, next } = proof.sets;
    const isOfChange = next !== undefined && change < last.sets.change;
    if (isOfChange && !completions.has(change)) completions.set(change, proof);
  }
  return [...completions.values(), last];
}

/** Every proof of a final block that the chain carries, lowest first, then the one that is known. */
function proofsOf(
  { blocks, head, final }: ProvenChain,
  { genesis, height }: TrustedCheckpoint,
  scheme: ChainScheme,
): ProofStep[] {
  const proofs: ProofStep[] = [];
  let at: TrackedBlock | undefined = head;
  for (; at !== undefined && at.checkpoint.height > height; at = parentOf(at, blocks)) {
    const { carried: justification } = at;
    const target = justification && ancestorAt(at, justification.target.height, blocks);
    const made = target && madeFinal(target);
    if (target === undefined || made === undefined) continue;
    const sets = target.deciding;
    const link = voteFor(target, decidingOn(sets, scheme), genesis);
    proofs.unshift({ link, justification: justification!, sets });
  }
  // A block above may carry what was decided before the sets that the trusted block leaves.
  const known = at?.leaves.change ?? 0;
  const { proof } = final;
  // Its child need not be in this chain.
  const sets = blocks.get(latin1(final.id), final.height)?.leaves;
  const highest = proofs.at(-1)?.link.source.height ?? 0;
  if (proof !== undefined && sets !== undefined && final.height > highest) {
    proofs.push({ ...proof, sets });
  }
  return proofs.filter((one) => one.sets.change >= known);
}
