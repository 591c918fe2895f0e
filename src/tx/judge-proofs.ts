/**
 * Decides whether the proofs of a transaction and the scripts that it concerns permit it
 * (state.md#order-of-checks). No other code does so. An account without a script needs exactly one
 * good signature. An account with a script is judged by its script. Then the scripts of all assets
 * that the transaction touches judge it.
 */
import { type ApiError, refused } from '../base/errors.ts';
import { base58 } from '../codec/text.ts';
import { assetOf } from '../ledger/assets.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { scripts } from '../ledger/tables.ts';
import { isSigned } from './assemble.ts';
import { type PlannedVerdict, type ProofVerdicts, provenOf } from './proof-verdicts.ts';
import { requireKeyOfAuthor } from './rules/data-author.ts';
import { feature, requireFeature } from './rules/features.ts';
import { assetsTouched } from './rules/fees.ts';
import { judgeByAccount, judgeByAsset } from './scripts/judge-scripts.ts';
import { type FindTransaction, verifying } from './scripts/script-environment.ts';
import type { ScriptRuns } from './scripts/script-runs.ts';
import type { BlockContext, Proven, Tx } from './transaction.ts';
import { WrongProof } from './wrong-proof.ts';

/** What decides about proofs beside them. */
export interface Judging {
  readonly view: LedgerView;
  readonly block: BlockContext;
  readonly find: FindTransaction;
  readonly scripts: Pick<ScriptRuns, 'run'>;
}

/**
 * In place of verdicts: signatures are not judged. It is no verdict, so that neither the pool nor a
 * block of another node can be given it.
 */
export const UNJUDGED = Symbol('the signatures are not judged');
export type Judged = ProofVerdicts | typeof UNJUDGED;

const NONE: readonly never[] = [];

/** Throws ApiError. */
export function judgeProofs(tx: Tx, verdicts: Judged, judging: Judging): void {
  const { view } = judging;
  const script = view.get(scripts, tx.sender);
  if (script === undefined) judgeBySignature(tx, verdicts, view);
  else judgeByScript(tx, script, verdicts, judging);
  if (tx.def.carried !== undefined) judgeCarried(tx, tx.def.carried(tx), verdicts, judging);
  for (const id of assetsTouched(tx)) {
    const asset = assetOf(view, id);
    const assetScript = asset?.script;
    if (assetScript === undefined) continue;
    judging.scripts.run('asset', (meter) =>
      judgeByAsset(assetScript, tx, situation(judging), meter),
    );
  }
}

const situation = ({ view, block, find }: Judging) => ({ view, height: block.height, find });

function judgeBySignature(tx: Tx, verdicts: Judged, view: LedgerView): void {
  if (tx.proofs.length !== 1) {
    throw refused('Transactions from non-scripted accounts must have exactly 1 proof');
  }
  if (verdicts === UNJUDGED) return;
  if (!(verdicts.about(tx).own[0] ?? isSignedBy(provenOf(tx), view)))
    throw invalidSignature(tx, tx.sender);
}

/** The verdicts on the checks that scripts were expected to ask for, the sender's first. */
const plannedOf = (tx: Tx, verdicts: Judged) =>
  verdicts === UNJUDGED ? undefined : verdicts.about(tx).planned;

/** For a proof without a verdict: its account had a script a moment ago. */
const isSignedBy = ({ publicKey, message, proofs }: Proven, { scheme }: LedgerView): boolean =>
  scheme.verify(publicKey, message, proofs[0]!);

/** A script may want none of the proofs, or all of them. */
function judgeByScript(tx: Tx, script: Uint8Array, verdicts: Judged, judging: Judging): void {
  // A type whose orders have signers of their own has no signature that a script could see.
  if (isSigned(tx.layout.frame) && tx.def.carried !== undefined) {
    throw refused(`Can't process transaction with signature from scripted account`);
  }
  const subject = { ...provenOf(tx), tx, planned: plannedOf(tx, verdicts)?.[0] ?? NONE };
  requireCosigner(tx, subject, judging);
  judging.scripts.run('sender', (meter) => {
    // A check that was not planned takes this thread, so it comes where the script does.
    requireSignatureOfCosigner(tx, subject, judging);
    judgeByAccount(script, subject, situation(judging), meter);
  });
}

/**
 * The author of data pays, so it has to sign beside the script of the sender (H-13: the author of
 * data agrees to pay).
 */
function requireCosigner(tx: Tx, { proofs }: Pick<Proven, 'proofs'>, { view }: Judging): void {
  const publicKey = tx.def.cosigner?.(tx);
  if (publicKey === undefined) return;
  requireKeyOfAuthor(view.scheme.addressOf(publicKey), view);
  if (proofs.length === 0) throw notSignedByAuthor();
}

const notSignedByAuthor = (): ApiError =>
  refused('The first proof is not a signature of the author');

function requireSignatureOfCosigner(
  tx: Tx,
  { message, proofs, planned }: Proven & { readonly planned: readonly PlannedVerdict[] },
  { view }: Judging,
): void {
  const publicKey = tx.def.cosigner?.(tx);
  const [signature] = proofs;
  if (publicKey === undefined || signature === undefined) return;
  // A check without a key is of the sender's, and says nothing about the author.
  const check = verifying({ message, proofs, publicKey: tx.senderPublicKey }, planned, view);
  if (!check(message, signature, publicKey)) throw notSignedByAuthor();
}

/**
 * Judges orders, each by the script or the signature of its sender, and the signature of a carried
 * transaction. Other rules check the number of proofs, and the script of a carried transaction.
 */
function judgeCarried(
  tx: Tx,
  carried: readonly Proven[],
  verdicts: Judged,
  judging: Judging,
): void {
  const { view, block } = judging;
  const planned = plannedOf(tx, verdicts);
  for (const [i, proven] of carried.entries()) {
    const { publicKey, proofs, order } = proven;
    const account = view.scheme.addressOf(publicKey);
    const script = view.get(scripts, account);
    if (script === undefined) {
      if (proofs.length !== 1 || verdicts === UNJUDGED) continue;
      const verdict = verdicts.about(tx).carried[i]?.[0];
      if (!(verdict ?? isSignedBy(proven, view))) throw invalidSignature(tx, account);
    } else if (order !== undefined) {
      requireFeature(feature.smartAccountTrading, tx.def.name, block);
      if (order.version === 1) {
        throw refused(`Can't process order with signature from scripted account`);
      }
      const subject = { ...proven, tx, planned: planned?.[i + 1] ?? NONE };
      judging.scripts.run('order', (meter) =>
        judgeByAccount(script, subject, situation(judging), meter),
      );
    }
  }
}

export function invalidSignature(tx: Tx, account: Uint8Array): WrongProof {
  return new WrongProof(
    account,
    isSigned(tx.layout.frame)
      ? 'invalid signature'
      : `Script doesn't exist and proof doesn't validate as signature for '${base58.encode(tx.id)}'`,
  );
}
