/**
 * The one way a transaction gets into the state, the same for the pool, the miner and a block from
 * a peer (state.md#order-of-checks). The order of refusals is fixed: signatures, time, features,
 * known id, funds, permissions, fee, the rules of the type, the balances that result, scripts that
 * judge, and the script that the transaction puts into the state.
 *
 * Invariants: a refused transaction leaves no trace; no script runs and none is read for a
 * transaction that another rule refuses; the verdict depends on nothing but the transaction, the verdicts on its proofs, the
 * ledger, the block context and what the block has left for scripts.
 */
import { apiError, refused } from '../base/errors.ts';
import { base58 } from '../codec/text.ts';
import type { LedgerView, Overlay } from '../ledger/ledger.ts';
import { type Judged, judgeProofs, UNJUDGED } from './judge-proofs.ts';
import { type ProofVerdicts, verdictsInside } from './proof-verdicts.ts';
import { checkBalances, checkSpending } from './rules/balance-check.ts';
import type { ChainRules } from './rules/chain-rules.ts';
import { activeFeatures, feature, requireFeature } from './rules/features.ts';
import { chargeFee, checkFee, feeAssetOf } from './rules/fees.ts';
import { checkPermissions } from './rules/sender-permissions.ts';
import { newScriptsOf, readNewScript } from './scripts/known-scripts.ts';
import type { FindTransaction } from './scripts/script-environment.ts';
import { NotedRuns, type ScriptRuns } from './scripts/script-runs.ts';
import type { BlockContext, Tx } from './transaction.ts';

/** The most by which a transaction may be ahead of its block. */
export const FUTURE_MAX_MS = 90 * 60_000;
const GENESIS_HEIGHT = 1;

/** Facts about a transaction, besides the state, that the caller supplies. */
export interface Knowledge {
  /** Height of the block that holds this id, including the block that is being made. */
  readonly heightOf: (id: Uint8Array) => number | undefined;
  /** The transaction with this id, and the same height; scripts look up transactions. */
  readonly find: FindTransaction;
  readonly scripts: ScriptRuns;
}

/** Where a transaction is applied, and what is known there. */
interface Environment extends Knowledge {
  readonly view: Overlay;
  readonly block: BlockContext;
}

/** The context of the next block on top of `view`; made once for each block. */
export function blockContext(
  view: LedgerView,
  rules: ChainRules,
  block: Omit<BlockContext, 'features' | 'rules'>,
): BlockContext {
  return { ...block, features: activeFeatures(view, block.height, rules), rules };
}

/**
 * Applies the transaction with its fee, and returns what the generator earns by it in native units.
 * Throws ApiError and leaves the ledger as it was before.
 */
export function applyTransaction(
  tx: Tx,
  verdicts: ProofVerdicts,
  ledger: Overlay,
  block: BlockContext,
  known: Knowledge,
): bigint {
  return applyJudged(tx, verdicts, ledger, block, known);
}

/**
 * The same, except that signatures are not judged. For questions about the state alone, and for
 * blocks that this node has verified before: nothing that comes of it may reach a pool, or a chain
 * that anybody else has made.
 */
export const applyUnjudged = (
  tx: Tx,
  ledger: Overlay,
  block: BlockContext,
  known: Knowledge,
): bigint => applyJudged(tx, UNJUDGED, ledger, block, known);

function applyJudged(
  tx: Tx,
  verdicts: Judged,
  ledger: Overlay,
  block: BlockContext,
  known: Knowledge,
): bigint {
  const mark = ledger.mark();
  try {
    const noted = new NotedRuns();
    const { heightOf, find, scripts } = known;
    const environment = { view: ledger, block, heightOf, find, scripts: noted };
    let earned = applyOnce(tx, verdicts, environment);
    const newScripts = newScriptsOf(tx);
    if (!noted.isAsked && newScripts.length === 0) return earned;
    scripts.begin(noted.count);
    if (noted.isAsked) {
      // Scripts see the state before the transaction.
      ledger.revert(mark);
      earned = applyOnce(tx, verdicts, { ...environment, scripts });
    }
    for (const script of newScripts) scripts.readNew(() => readNewScript(script, ledger.scheme));
    return earned;
  } catch (error) {
    ledger.revert(mark);
    throw error;
  }
}

/**
 * Leaves the effects of a member on the ledger, while its group is being made: signatures and scripts
 * are judged when the whole group is applied. Throws ApiError.
 */
export function applyPart(
  member: Tx,
  ledger: Overlay,
  block: BlockContext,
  { heightOf, find }: Omit<Knowledge, 'scripts'>,
): void {
  const environment = { view: ledger, block, heightOf, find, scripts: new NotedRuns() };
  applyOnce(member, UNJUDGED, environment, true);
}

/** `isMember`: it is a part of an atomic transaction, and meets every rule that it would meet alone. */
function applyOnce(tx: Tx, verdicts: Judged, environment: Environment, isMember = false): bigint {
  const { view, block } = environment;
  const mark = view.mark();
  if (tx.layout.frame !== 'genesis') judgeProofs(tx, verdicts, environment);
  requirePlace(tx, block);
  const earned = applyAnywhere(tx, verdicts, environment, isMember);
  checkBalances(view, mark, block.rules.nativeToken);
  return earned;
}

function applyAnywhere(
  tx: Tx,
  verdicts: Judged,
  environment: Environment,
  isMember: boolean,
): bigint {
  const { view, block } = environment;
  const { apply, inner, members } = tx.def;
  if (apply === undefined) throw apiError('NotAvailable', tx.def.name);
  if (tx.layout.frame === 'genesis') {
    apply(tx, view, block);
    return 0n;
  }
  checkCommon(tx, isMember, environment);
  let earned = 0n;
  if (inner !== undefined) {
    earned = applyInner(inner(tx), judgedInside(tx, verdicts, 0), environment, isMember);
  }
  if (members !== undefined) {
    // Each on the state that those before it leave.
    for (const [i, member] of members(tx).entries()) {
      earned += applyOnce(member, judgedInside(tx, verdicts, i), environment, true);
    }
  }
  apply(tx, view, block);
  return earned + chargeFee(tx, view);
}

/**
 * What a transaction carries pays for both, and meets every rule that it would meet alone, or as the
 * member that it was when it was sent (H-15).
 */
function applyInner(tx: Tx, verdicts: Judged, environment: Environment, isMember: boolean): bigint {
  judgeProofs(tx, verdicts, environment);
  return applyAnywhere(tx, verdicts, environment, isMember);
}

const judgedInside = (tx: Tx, verdicts: Judged, index: number): Judged =>
  verdicts === UNJUDGED ? UNJUDGED : verdictsInside(tx, verdicts, index);

/** Genesis types stand in the genesis block, and nothing else does. */
function requirePlace(tx: Tx, block: BlockContext): void {
  const isGenesis = tx.layout.frame === 'genesis';
  if (isGenesis && block.height !== GENESIS_HEIGHT) {
    throw refused(`${tx.def.name} cannot appear in non-initial block`);
  }
  if (!isGenesis && block.height === GENESIS_HEIGHT) {
    throw refused(`${tx.def.name} cannot appear in the initial block`);
  }
  // Every pool accepts executable transactions alone, also where no engine runs, since they may
  // wait for another miner. A block holds them only together with their results.
  if (tx.def.executable !== true) return;
  if (block.generator !== undefined) {
    const id = base58.encode(tx.id);
    throw refused(`Executable transaction with id = ${id}, type = ${tx.type} wasn't executed`);
  }
}

function checkCommon(tx: Tx, isMember: boolean, { view, block, heightOf }: Environment): void {
  checkTime(tx, block);
  checkFeatures(tx, block);
  requireBadgePlace(tx, isMember);
  const height = heightOf(tx.id);
  if (height !== undefined) {
    const id = base58.encode(tx.id);
    throw refused(`Transaction ${id} is already in the state on a height of ${height}`);
  }
  checkSpending(tx, view, block.rules.nativeToken);
  checkPermissions(tx, view, block);
  checkFee(tx, view, block);
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
  tx.def.guardFeatures?.(tx, block);
  // The second versions of contract types already have a fee asset. It must be absent before the
  // feature is active.
  if (tx.def.executable === true && feeAssetOf(tx) !== undefined) {
    requireFeature(feature.sponsoredFees, name, block);
  }
}

/**
 * A badge says that its transaction is a part of an atomic one. Throws ApiError where one with a badge
 * stands alone (transactions.md#atomic-transactions).
 */
function requireBadgePlace({ fields }: Pick<Tx, 'fields'>, isMember: boolean): void {
  if (isMember || fields['atomicBadge'] === undefined) return;
  throw refused('Transactions with atomic badge cannot be mined outside of atomic container');
}
