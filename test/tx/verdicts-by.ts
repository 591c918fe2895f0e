/** Verdicts as a thread of the REST interface says them, which may say what a test wants. */
import { concat } from '../../src/base/bytes.ts';
import type { SignatureCheck } from '../../src/base/ports/verifier.ts';
import {
  type ProofVerdicts,
  readVerdicts,
  signatureChecks,
  writeVerdicts,
} from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';

/** `index` counts the proofs of the transaction, and then those of what it carries. */
export function verdictsBy(
  tx: Tx,
  isGood: (index: number, check: SignatureCheck) => boolean,
): ProofVerdicts {
  const verdicts = signatureChecks(tx).map((check, index) => isGood(index, check));
  const head = writeVerdicts(tx, verdicts);
  return readVerdicts(concat(Uint8Array.from(head), tx.bytes), 0);
}

export const allBad = (tx: Tx): ProofVerdicts => verdictsBy(tx, () => false);
