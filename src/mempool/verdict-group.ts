/**
 * Signatures of transactions that arrived together, checked as one job. A message to a thread and
 * back costs as much as the rules for a transaction, and batches of single checks are small.
 *
 * Invariant: each transaction is decided as if it had come alone.
 */
import type { SignatureCheck, Verifier } from '../base/ports.ts';
import {
  addChecks,
  type CheckPlan,
  type ProofVerdicts,
  takeVerdicts,
} from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';

/** Where the verdicts on the proofs of a transaction come from. */
export type AskVerdicts = (tx: Tx, plan: CheckPlan | undefined) => Promise<ProofVerdicts>;

export interface VerdictGroup {
  /** Resolves some time after `send`. */
  readonly ask: AskVerdicts;
  /** Sends all that was asked for. */
  send(): void;
}

/** The rules for so many take less than a millisecond, which no other work can use. */
export const GROUP_MAX = 32;

export function createVerdictGroup(verifier: Pick<Verifier, 'verify'>): VerdictGroup {
  const checks: SignatureCheck[] = [];
  const answers = Promise.withResolvers<readonly boolean[]>();
  let isAsked = false;
  return {
    async ask(tx, plan) {
      isAsked = true;
      const from = checks.length;
      addChecks(checks, tx, plan);
      const to = checks.length;
      return takeVerdicts((await answers.promise).slice(from, to).values(), tx, plan);
    },
    send() {
      // Without a question, a rejection would have no receiver.
      if (isAsked) verifier.verify(checks).then(answers.resolve, answers.reject);
    },
  };
}
