/**
 * The one way a transaction gets into the state, the same for the pool, the miner and a block from
 * a peer (state.md#order-of-checks). Which refusal comes first is fixed: verification, time,
 * features, known id, funds, permissions, fee, the rules of the type, and the balances that result.
 *
 * Invariants: a refused transaction leaves no trace; the verdict depends on nothing but the
 * transaction, the ledger and the block context.
 */
import { type ApiError, apiError, refused } from '../base/errors.ts';
import { base58 } from '../codec/text.ts';
import type { LedgerView, Overlay } from '../ledger/ledger.ts';
import { scripts } from '../ledger/tables.ts';
import { checkBalances, checkSpending } from './rules/balance-check.ts';
import type { ChainRules } from './rules/chain-rules.ts';
import { activeFeatures, feature, featureName } from './rules/features.ts';
import { chargeFee, checkFee, feeAssetOf } from './rules/fees.ts';
import { checkPermissions } from './rules/sender-permissions.ts';
import { isSigned } from './seal.ts';
import type { BlockContext, Tx } from './transaction.ts';

const FUTURE_MAX_MS = 90 * 60_000;
const GENESIS_HEIGHT = 1;

/** What is known about a transaction from elsewhere. */
export interface Knowledge {
  /** Verdict on its only proof, which is checked on another thread. */
  readonly signatureVerified: boolean;
  /** The same on `def.signatures`; whoever does not check them leaves it out: no 7 and no 105. */
  readonly carriedVerified?: boolean;
  /** True where somebody executes contracts; elsewhere 103, 104 and 107 would wait in vain. */
  readonly contracts?: boolean;
  /** Height of the block that holds this id, the one in the making included. */
  readonly heightOf: (id: Uint8Array) => number | undefined;
}

/** Context of the next block on top of `view`; made once for each block. */
export function blockContext(
  view: LedgerView,
  rules: ChainRules,
  block: Omit<BlockContext, 'features' | 'rules'>,
): BlockContext {
  return { ...block, features: activeFeatures(view, block.height, rules), rules };
}

/**
 * Applies the transaction, its fee included, and gives what the generator earns by it in native
 * units. Throws ApiError with the ledger as it was before.
 */
export function applyTransaction(
  tx: Tx,
  ledger: Overlay,
  block: BlockContext,
  known: Knowledge,
): bigint {
  const mark = ledger.mark();
  try {
    requirePlace(tx, block, known);
    const earned = applyAnywhere(tx, ledger, block, known);
    checkBalances(ledger, mark, block.rules.nativeToken);
    return earned;
  } catch (error) {
    ledger.revert(mark);
    throw error;
  }
}

function applyAnywhere(tx: Tx, ledger: Overlay, block: BlockContext, known: Knowledge): bigint {
  const { apply, inner, signatures } = tx.def;
  const isJudged = signatures === undefined || known.carriedVerified !== undefined;
  if (apply === undefined || !isJudged) throw apiError('NotAvailable', tx.def.name);
  if (tx.layout.frame === 'genesis') {
    apply(tx, ledger, block);
    return 0n;
  }
  const carriedVerified = signatures === undefined || known.carriedVerified === true;
  checkCommon(tx, ledger, block, known.signatureVerified && carriedVerified, known.heightOf);
  // What a transaction carries pays for both, and meets every rule that it would meet alone (H-15).
  const earned = inner === undefined ? 0n : applyAnywhere(inner(tx), ledger, block, known);
  apply(tx, ledger, block);
  return earned + chargeFee(tx, ledger);
}

/** Genesis types stand in the genesis block, and nothing else does. */
function requirePlace(tx: Tx, block: BlockContext, known: Knowledge): void {
  const isGenesis = tx.layout.frame === 'genesis';
  if (isGenesis && block.height !== GENESIS_HEIGHT) {
    throw refused(`${tx.def.name} cannot appear in non-initial block`);
  }
  if (!isGenesis && block.height === GENESIS_HEIGHT) {
    throw refused(`${tx.def.name} cannot appear in the initial block`);
  }
  // The pool takes what is to be executed; a block takes it together with its results.
  if (tx.def.executable !== true) return;
  if (known.contracts !== true) throw apiError('NotAvailable', tx.def.name);
  if (block.generator !== undefined) {
    const id = base58.encode(tx.id);
    throw refused(`Executable transaction with id = ${id}, type = ${tx.type} wasn't executed`);
  }
}

function checkCommon(
  tx: Tx,
  view: LedgerView,
  block: BlockContext,
  verified: boolean,
  heightOf: Knowledge['heightOf'],
): void {
  checkVerification(tx, view, verified);
  checkTime(tx, block);
  checkFeatures(tx, block);
  const height = heightOf(tx.id);
  if (height !== undefined) {
    const id = base58.encode(tx.id);
    throw refused(`Transaction ${id} is already in the state on a height of ${height}`);
  }
  checkSpending(tx, view, block.rules.nativeToken);
  checkPermissions(tx, view, block);
  checkFee(tx, view, block);
}

function checkVerification(tx: Tx, view: LedgerView, signatureVerified: boolean): void {
  if (view.get(scripts, tx.sender) !== undefined) {
    throw apiError('NotAvailable', 'Sending from a scripted account');
  }
  if (tx.proofs.length !== 1) {
    throw refused('Transactions from non-scripted accounts must have exactly 1 proof');
  }
  if (signatureVerified) return;
  throw invalidSignature(tx);
}

/** The refusal of a transaction whose signature is wrong. */
export function invalidSignature(tx: Tx): ApiError {
  return apiError(
    'WrongProof',
    isSigned(tx.layout.frame)
      ? 'invalid signature'
      : `Script doesn't exist and proof doesn't validate as signature for '${base58.encode(tx.id)}'`,
  );
}

function checkTime(tx: Tx, block: BlockContext): void {
  const { timestamp } = tx;
  if (timestamp - block.timestamp > FUTURE_MAX_MS) {
    throw apiError(
      'Mistiming',
      `Transaction ts ${timestamp} is from far future. BlockTime: ${block.timestamp}`,
    );
  }
  if (block.parentTimestamp - timestamp > block.rules.txExpireTimeoutMs) {
    throw apiError(
      'Mistiming',
      `Transaction ts ${timestamp} is too old. ` +
        `Previous block time: Some(${block.parentTimestamp})`,
    );
  }
}

function checkFeatures(tx: Tx, block: BlockContext): void {
  const { features = [], name } = tx.def;
  for (const id of features) requireFeature(id, name, block);
  if (tx.layout.feature !== undefined) requireFeature(tx.layout.feature, name, block);
  // Their second versions have the field already, which is of no use before the feature.
  if (tx.def.executable === true && feeAssetOf(tx) !== undefined) {
    requireFeature(feature.sponsoredFees, name, block);
  }
}

/** Throws ApiError unless the feature is active. */
export function requireFeature(id: number, forWhat: string, block: BlockContext): void {
  if (block.features.has(id)) return;
  throw refused(
    `ActivationError(Blockchain feature '${featureName(id)}' (id: '${id}') ` +
      `has not been activated yet, but is required for ${forWhat})`,
  );
}
