/**
 * Verdicts on the proofs of a transaction: its own, and those of the orders or of the transaction
 * that it carries. Other threads find them in advance, without the state. The pipeline judges them
 * together with the state (judge-proofs.ts).
 */
import type { SignatureCheck } from '../base/ports.ts';
import { signedBytes } from './seal.ts';
import type { Proven, Tx } from './transaction.ts';

/** One verdict for each proof, in their order; true: a good signature with the key of the account. */
export type Verdicts = readonly boolean[];

export interface ProofVerdicts {
  readonly own: Verdicts;
  /** In the order of `TxType.carried`. */
  readonly carried: readonly Verdicts[];
}

const GOOD: Verdicts = [true];
const BAD: Verdicts = [false];
const NOTHING: readonly never[] = [];

/** Almost all transactions share these two objects, since a block has thousands of transactions. */
export const ONE_GOOD: ProofVerdicts = { own: GOOD, carried: NOTHING };
export const ONE_BAD: ProofVerdicts = { own: BAD, carried: NOTHING };

export const provenOf = (tx: Tx): Proven => ({
  publicKey: tx.senderPublicKey,
  message: signedBytes(tx),
  proofs: tx.proofs,
});

/** Appends the checks that other threads make. */
export function addChecks(checks: SignatureCheck[], tx: Tx): void {
  if (tx.proofs.length > 0) addProven(checks, provenOf(tx));
  for (const proven of tx.def.carried?.(tx) ?? NOTHING) addProven(checks, proven);
}

function addProven(checks: SignatureCheck[], { publicKey, message, proofs }: Proven): void {
  for (const signature of proofs) checks.push({ publicKey, message, signature });
}

/** Takes the answers to `addChecks` in the same order, transaction by transaction. */
export function takeVerdicts(answers: Iterator<boolean>, tx: Tx): ProofVerdicts {
  const own = takeAnswers(answers, tx.proofs);
  const { carried } = tx.def;
  if (carried !== undefined) {
    return { own, carried: carried(tx).map(({ proofs }) => takeAnswers(answers, proofs)) };
  }
  if (own === GOOD) return ONE_GOOD;
  return own === BAD ? ONE_BAD : { own, carried: NOTHING };
}

function takeAnswers(answers: Iterator<boolean>, proofs: readonly Uint8Array[]): Verdicts {
  if (proofs.length === 1) return answers.next().value === true ? GOOD : BAD;
  return proofs.map(() => answers.next().value === true);
}

/**
 * The verdicts on a transaction with only valid proofs. This holds for all transactions that the
 * pipeline has accepted before, in a block of this chain or into the journal of the pool, since it
 * requires one valid proof for each account.
 */
export function allGood(tx: Tx): ProofVerdicts {
  const { carried } = tx.def;
  if (carried === undefined && tx.proofs.length === 1) return ONE_GOOD;
  return {
    own: tx.proofs.map(() => true),
    carried: (carried?.(tx) ?? NOTHING).map(({ proofs }) => proofs.map(() => true)),
  };
}
