/** The proof of the highest final block goes to disk (finality.md#votes). */
import { equal } from '../../base/bytes.ts';
import type { Store } from '../../base/ports/store.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import {
  finalProofWrite,
  proofAheadWrite,
  provesOwn,
  storedAhead,
} from '../../chain/finality/final-floor.ts';

export interface ProofPorts {
  readonly blockchain: Blockchain;
  readonly store: Store;
}

/**
 * Not during the write of another branch, which would leave a final block that the chain lacks. False where it lacks
 * the block: the proof is kept aside then, so that the node seeks the block after a restart, too.
 */
export function saveFinalProof({ blockchain, store }: ProofPorts, proof: Uint8Array) {
  const { view } = blockchain;
  return blockchain.exclusive(async () => {
    const ahead = storedAhead(view);
    const isOwn = provesOwn(view, proof);
    if (isOwn) {
      await store.write([
        finalProofWrite(proof),
        ...(ahead === undefined ? [] : [proofAheadWrite(undefined)]),
      ]);
    } else if (ahead === undefined || !equal(ahead, proof)) {
      await store.write([proofAheadWrite(proof)]);
    }
    return isOwn;
  });
}
