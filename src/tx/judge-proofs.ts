/**
 * Decides whether the proofs of a transaction permit it (state.md#order-of-checks). No other code
 * does so. An account without a script needs exactly one good signature. An account with a script
 * is judged by its script.
 */
import { type ApiError, apiError, refused } from '../base/errors.ts';
import { base58 } from '../codec/text.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { scripts } from '../ledger/tables.ts';
import type { ProofVerdicts, Verdicts } from './proof-verdicts.ts';
import { isSigned } from './seal.ts';
import type { Tx } from './transaction.ts';

/** Throws ApiError. */
export function judgeProofs(tx: Tx, view: LedgerView, { own, carried }: ProofVerdicts): void {
  const script = view.get(scripts, tx.sender);
  if (script !== undefined) judgeByScript(tx, script, own);
  else judgeBySignature(tx, own);
  if (carried.length > 0) judgeCarried(tx, view, carried);
}

function judgeBySignature(tx: Tx, verdicts: Verdicts): void {
  if (tx.proofs.length !== 1) {
    throw refused('Transactions from non-scripted accounts must have exactly 1 proof');
  }
  if (verdicts[0] !== true) throw invalidSignature(tx);
}

/** A script may want none of the proofs, or all of them. This node executes no scripts. */
function judgeByScript(_tx: Tx, _script: Uint8Array, _verdicts: Verdicts): never {
  throw apiError('NotAvailable', 'Sending from a scripted account');
}

/**
 * Judges the single signature of an order or of a carried transaction. Other rules of these check
 * the number of proofs and the script.
 */
function judgeCarried(tx: Tx, view: LedgerView, verdicts: readonly Verdicts[]): void {
  const carried = tx.def.carried?.(tx) ?? [];
  for (const [i, { publicKey, proofs }] of carried.entries()) {
    if (proofs.length !== 1 || verdicts[i]?.[0] === true) continue;
    if (view.get(scripts, view.scheme.addressOf(publicKey)) === undefined)
      throw invalidSignature(tx);
  }
}

function invalidSignature(tx: Tx): ApiError {
  return apiError(
    'WrongProof',
    isSigned(tx.layout.frame)
      ? 'invalid signature'
      : `Script doesn't exist and proof doesn't validate as signature for '${base58.encode(tx.id)}'`,
  );
}
