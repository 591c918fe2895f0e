/**
 * Verdicts on the proofs of a transaction: its own, and those of the orders or of the transaction
 * that it carries. Other threads find them in advance. The pipeline judges them together with the
 * state (judge-proofs.ts).
 *
 * Without a script, each proof is checked with the key of its account. With one, the proofs are
 * checked as the script will probably ask (`CheckPlan`). A plan decides only what is checked early:
 * the pipeline itself makes each check that was not planned.
 */
import type { SignatureCheck } from '../base/ports.ts';
import { signedBytes } from './seal.ts';
import type { Proven, Tx } from './transaction.ts';

/** One verdict for each proof, in their order; true: a good signature with the key of the account. */
export type Verdicts = readonly boolean[];

/** A check that a script will probably ask for. */
export interface PlannedCheck {
  /** Index of the proof. */
  readonly proof: number;
  /** Undefined: the key of the account. */
  readonly publicKey: Uint8Array | undefined;
}

export interface PlannedVerdict extends PlannedCheck {
  readonly isGood: boolean;
}

/** For each account, the sender first: undefined where it has no script. */
export type CheckPlan = readonly (readonly PlannedCheck[] | undefined)[];

export interface ProofVerdicts {
  /** Empty where a script was going to judge. */
  readonly own: Verdicts;
  /** In the order of `TxType.carried`. */
  readonly carried: readonly Verdicts[];
  /** For each account, the sender first; absent where no account had a script. */
  readonly planned?: readonly (readonly PlannedVerdict[])[];
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
export function addChecks(checks: SignatureCheck[], tx: Tx, plan?: CheckPlan): void {
  if (tx.proofs.length > 0) addProven(checks, provenOf(tx), plan?.[0]);
  const carried = tx.def.carried?.(tx) ?? NOTHING;
  for (let i = 0; i < carried.length; i++) addProven(checks, carried[i]!, plan?.[i + 1]);
}

function addProven(
  checks: SignatureCheck[],
  { publicKey, message, proofs }: Proven,
  planned: readonly PlannedCheck[] | undefined,
): void {
  if (planned === undefined) {
    for (const signature of proofs) checks.push({ publicKey, message, signature });
    return;
  }
  for (const { proof, publicKey: key = publicKey } of planned) {
    checks.push({ publicKey: key, message, signature: proofs[proof]! });
  }
}

/** Takes the answers to `addChecks` in the same order, transaction by transaction. */
export function takeVerdicts(answers: Iterator<boolean>, tx: Tx, plan?: CheckPlan): ProofVerdicts {
  if (plan !== undefined) return takePlanned(answers, tx, plan);
  const own = takeAnswers(answers, tx.proofs);
  const { carried } = tx.def;
  if (carried !== undefined) {
    return { own, carried: carried(tx).map(({ proofs }) => takeAnswers(answers, proofs)) };
  }
  if (own === GOOD) return ONE_GOOD;
  return own === BAD ? ONE_BAD : { own, carried: NOTHING };
}

function takePlanned(answers: Iterator<boolean>, tx: Tx, plan: CheckPlan): ProofVerdicts {
  const verdicts: Verdicts[] = [];
  const planned: (readonly PlannedVerdict[])[] = [];
  for (const [i, { proofs }] of [tx, ...(tx.def.carried?.(tx) ?? NOTHING)].entries()) {
    const checks = plan[i];
    verdicts.push(checks === undefined ? takeAnswers(answers, proofs) : NOTHING);
    planned.push(
      (checks ?? NOTHING).map((check) => ({ ...check, isGood: answers.next().value === true })),
    );
  }
  const [own = NOTHING, ...carried] = verdicts;
  return { own, carried, planned };
}

function takeAnswers(answers: Iterator<boolean>, proofs: readonly Uint8Array[]): Verdicts {
  if (proofs.length === 1) return answers.next().value === true ? GOOD : BAD;
  return proofs.map(() => answers.next().value === true);
}

/** The verdicts on a transaction that carries another one, whose verdicts are known. */
export function carrying(own: Verdicts, { own: inside, planned }: ProofVerdicts): ProofVerdicts {
  const verdicts = { own, carried: [inside] };
  return planned === undefined ? verdicts : { ...verdicts, planned: [NOTHING, ...planned] };
}

/**
 * The verdicts on a transaction with only valid proofs. This holds for all transactions that the
 * pipeline has accepted before, in a block of this chain or into the journal of the pool, since it
 * requires one valid proof for each account. Scripts make their own checks again.
 */
export function allGood(tx: Tx): ProofVerdicts {
  const { carried } = tx.def;
  if (carried === undefined && tx.proofs.length === 1) return ONE_GOOD;
  return {
    own: tx.proofs.map(() => true),
    carried: (carried?.(tx) ?? NOTHING).map(({ proofs }) => proofs.map(() => true)),
  };
}
