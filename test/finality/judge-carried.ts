/** Judges what a block carries as a node does, on a chain of tracked blocks. */
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { type CarriedPorts, checksInChain, requireSignatures } from '../../src/finality/carried.ts';
import type { Justification } from '../../src/finality/proofs/justification.ts';
import {
  ancestorAt,
  type BlockIndex,
  type TrackedBlock,
} from '../../src/finality/tracked-block.ts';

interface Ports extends CarriedPorts {
  readonly blocks: BlockIndex;
  readonly verifier: Pick<Verifier, 'verify'>;
}

/** Rejects with Refusal where a child of `parent` that carries it is invalid. */
export async function judgeCarried(
  justification: Justification,
  parent: TrackedBlock,
  { blocks, verifier, ...ports }: Ports,
): Promise<void> {
  // A height above the parent's finds the parent itself.
  const at = (height: number) => ancestorAt(parent, height, blocks);
  await requireSignatures(
    checksInChain(justification, { source: parent.source, at }, ports),
    verifier,
  );
}
