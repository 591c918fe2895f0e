/**
 * Signatures of transactions that arrived together, checked as one job. A message to a thread and
 * back costs as much as the rules for a transaction, and batches of single checks are small.
 *
 * Invariant: each transaction is decided as if it had come alone.
 */
import type { Verifier } from '../../base/ports/verifier.ts';
import {
  type CheckPlan,
  checkProofs,
  ProofChecks,
  type ProofVerdicts,
} from '../../tx/proof-verdicts.ts';
import type { Tx } from '../../tx/transaction.ts';

/** Where the verdicts on the proofs of a transaction come from. */
export type AskVerdicts = (tx: Tx, plan: CheckPlan | undefined) => Promise<ProofVerdicts>;

export interface VerdictGroup {
  /** Resolves some time after `send`. What is asked later is checked alone. */
  readonly ask: AskVerdicts;
  /** Sends all that was asked for. */
  send(): void;
}

/** The rules for so many take less than a millisecond, which no other work can use. */
export const GROUP_MAX = 32;

export function createVerdictGroup(verifier: Pick<Verifier, 'verify' | 'verifyOne'>): VerdictGroup {
  const checks = new ProofChecks();
  const answers = Promise.withResolvers<unknown>();
  let isSent = false;
  return {
    async ask(tx, plan) {
      // It waited for older ones of its sender meanwhile.
      if (isSent) return checkProofs(tx, plan, verifier);
      const index = checks.count;
      checks.add(tx, plan);
      await answers.promise;
      return checks.verdicts(index);
    },
    send() {
      isSent = true;
      // Without a question, a rejection would have no receiver.
      if (checks.count > 0) checks.ask(verifier).then(answers.resolve, answers.reject);
    },
  };
}
