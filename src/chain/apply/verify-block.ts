/**
 * Signatures of a block and of its transactions, checked in one batch on other threads. The verdict
 * on the block's own signature is final. The verdicts on the proofs are judged together with the
 * state.
 */
import { apiError } from '../../base/errors.ts';
import type { SignatureCheck, Verifier } from '../../base/ports/verifier.ts';
import { type Block, hasOwnBody, SCRIPT_RUNS_MAX, signedBytes } from '../../block/block.ts';
import { claimChecks } from '../../block/turn-claims.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import {
  type CheckLoad,
  type CheckPlan,
  carrying,
  ProofChecks,
  type ProofVerdicts,
  placesBefore,
  sealing,
} from '../../tx/proof-verdicts.ts';
import { CheckPlanner, hasScripts } from '../../tx/scripts/plan-checks.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeUnreadTx } from '../../tx/tx-bytes.ts';

/** A block with a valid signature of its generator, and the verdicts on the proofs in it. */
export interface VerifiedBlock {
  readonly block: Block;
  readonly txs: readonly Tx[];
  /** One for each transaction, in their order. */
  readonly verdicts: readonly ProofVerdicts[];
}

/**
 * A block of the own chain whose signatures this node has verified before. They are not judged again,
 * so this is never a block that came from anywhere else.
 */
export interface ReplayedBlock extends Omit<VerifiedBlock, 'verdicts'> {
  readonly verdicts: undefined;
}

/** A block whose signatures are being checked. */
export interface CheckedBlock extends Omit<VerifiedBlock, 'verdicts'> {
  /** Rejects with ApiError where the signature of the generator is wrong. */
  readonly verdicts: Promise<VerifiedBlock['verdicts']>;
}

/**
 * Earlier verdicts on the proofs of exactly this transaction, so that no thread repeats the check.
 */
export type KnownVerdicts = (tx: Tx) => ProofVerdicts | undefined;

export const NOTHING_KNOWN: KnownVerdicts = () => undefined;

/**
 * New scripts stay unread until the block is applied. Throws ApiError where a transaction does not
 * decode.
 */
export async function decodeTransactions(
  block: Block,
  scheme: ChainScheme,
  slice: TimeSlice,
): Promise<Tx[]> {
  try {
    const txs: Tx[] = [];
    for (const bytes of block.transactions) {
      txs.push(decodeUnreadTx(bytes, scheme));
      if (slice.isOver()) await slice.yield();
    }
    return txs;
  } catch (error) {
    if (error instanceof CodecError) throw error.api ?? apiError('Invalid', error.message);
    throw error;
  }
}

/** The checks of a block, composed and not yet asked for. */
export interface BlockChecks extends CheckLoad {
  /** Called once. Rejects with ApiError where the signature of the block or of a claim is wrong. */
  ask(verifier: Verifier): Promise<readonly ProofVerdicts[]>;
}

/**
 * Composes the checks of the block's own signature, unless `isSigned` says that it was verified
 * before, of the turns that the block claims, and of all proofs. The scripts at `view`, the head, say which checks
 * to make in advance.
 */
export async function composeChecks(
  block: Block,
  txs: readonly Tx[],
  known: KnownVerdicts,
  view: LedgerView,
  slice: TimeSlice,
  isSigned = false,
): Promise<BlockChecks> {
  const ofBlock = signatureOf(block, view.scheme);
  const claims = claimChecks(block.header, view.scheme);
  const checks = new ProofChecks([...claims, ...(isSigned ? [] : [ofBlock])]);
  const before: (ProofVerdicts | undefined)[] = [];
  const inside: (ProofVerdicts | undefined)[] = [];
  const unsealed: (Unsealed | undefined)[] = [];
  for (const tx of txs) {
    before.push(knownBefore(tx, known, view));
    inside.push(knownInside(tx, known, view));
    // Atomic transactions have a hundred members.
    unsealed.push(knownUnsealed(tx, known, view));
    if (slice.isOver()) await slice.yield();
  }
  // A plan decodes scripts, for a block that nobody may have signed. Further runs than a block may
  // have make their checks themselves.
  const planner = new CheckPlanner(view, slice, SCRIPT_RUNS_MAX);
  for (const [i, tx] of txs.entries()) {
    if (before[i] !== undefined) continue;
    const part = unsealed[i]?.onlySeal ?? (inside[i] === undefined ? undefined : ONLY_OWN);
    const plan = part ?? planner.plan(tx);
    checks.add(tx, plan instanceof Promise ? await plan : plan);
    // Looking for scripts and composing the checks of many members takes long too.
    if (slice.isOver()) await slice.yield();
  }
  return {
    ...checks.load,
    async ask(verifier) {
      const answers = await checks.ask(verifier);
      if (!isSigned && (answers.at(-1) !== true || !hasOwnBody(block, view.scheme)))
        throw apiError('InvalidSignature');
      if (!answers.slice(0, claims.length).every((isGood) => isGood === true)) {
        // The generator has signed the block with it, so this is no forgery of the sender.
        throw apiError('Invalid', 'A turn that the block claims is not signed by its generator');
      }
      let next = 0;
      return txs.map((tx, i) => {
        const verdicts = before[i] ?? checks.verdicts(next++);
        const waited = unsealed[i];
        if (waited !== undefined) return sealing(tx, waited.waiting, waited.verdicts, verdicts);
        const carried = inside[i];
        return carried === undefined ? verdicts : carrying(tx, verdicts, carried);
      });
    },
  };
}

const signatureOf = (block: Block, scheme: ChainScheme): SignatureCheck => ({
  publicKey: block.header.generator,
  message: signedBytes(block, scheme),
  signature: block.header.signature,
});

/** The signature of the block alone, for one whose transactions cannot be read. */
export async function hasGoodSignature(
  block: Block,
  verifier: Verifier,
  scheme: ChainScheme,
): Promise<boolean> {
  const { publicKey, message, signature } = signatureOf(block, scheme);
  return hasOwnBody(block, scheme) && (await verifier.verifyOne(publicKey, message, signature));
}

/** Composes the checks and asks for them. */
export async function verifyBlock(
  block: Block,
  txs: readonly Tx[],
  verifier: Verifier,
  known: KnownVerdicts,
  view: LedgerView,
  slice: TimeSlice,
  isSigned = false,
): Promise<readonly ProofVerdicts[]> {
  const checks = await composeChecks(block, txs, known, view, slice, isSigned);
  return checks.ask(verifier);
}

/**
 * The earlier verdicts, if they help. Those that were made while the sender had a script do not where
 * it has none now: threads then check the signature faster than the pipeline.
 */
function knownBefore(tx: Tx, known: KnownVerdicts, view: LedgerView): ProofVerdicts | undefined {
  const verdicts = known(tx);
  if (verdicts === undefined || verdicts.isComplete) return verdicts;
  return hasScripts(tx, view) ? verdicts : undefined;
}

/** Checks of the sender's own proofs, and of none of what the transaction carries. */
const ONLY_OWN: CheckPlan = [undefined, []];

/** An atomic transaction has waited in the pool without the signatures of the generator. */
function knownUnsealed(tx: Tx, known: KnownVerdicts, view: LedgerView): Unsealed | undefined {
  const waiting = tx.def.waiting?.(tx);
  if (waiting === undefined || waiting === tx) return undefined;
  const verdicts = knownBefore(waiting, known, view);
  if (verdicts === undefined) return undefined;
  // No check of the sender or of a member; all of what the generator has signed.
  const ofCarried = [...placesBefore(tx)].map((at) => (at === undefined ? undefined : []));
  return { waiting, verdicts, onlySeal: [[], ...ofCarried] };
}

interface Unsealed {
  readonly waiting: Tx;
  readonly verdicts: ProofVerdicts;
  readonly onlySeal: CheckPlan;
}

/** The results of a contract come with the block, but the call in them has waited in the pool. */
function knownInside(tx: Tx, known: KnownVerdicts, view: LedgerView): ProofVerdicts | undefined {
  const { inner } = tx.def;
  return inner === undefined ? undefined : knownBefore(inner(tx), known, view);
}
