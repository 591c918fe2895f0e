/**
 * What a transaction must pay, and the payment (state.md#fees).
 *
 * The sponsor gets a fee in a sponsored asset and pays its native equivalent in exchange. So the
 * generator of the block earns native units only.
 */
import { refused } from '../../base/errors.ts';
import { mulDivFloor } from '../../base/int.ts';
import { base58 } from '../../codec/text.ts';
import { debit } from '../../ledger/accounts.ts';
import { type Asset, assetOf, move } from '../../ledger/assets.ts';
import type { Ledger, LedgerView } from '../../ledger/ledger.ts';
import { scripts } from '../../ledger/tables.ts';
import type { BlockContext, Tx } from '../transaction.ts';
import { feature } from './features.ts';

/** The default of the fee that each run of a script adds. */
export const SCRIPT_EXTRA = 400_000n;

/** The native units that `sponsorFee` units of a sponsored asset are worth. */
export const SPONSORED_UNIT = 100_000n;

/** The asset that pays the fee; undefined: the native token. */
export const feeAssetOf = (tx: Tx): Uint8Array | undefined =>
  tx.fields['feeAssetId'] as Uint8Array | undefined;

export const payerOf = (tx: Tx, view: LedgerView): Uint8Array =>
  tx.def.payer === undefined ? tx.sender : tx.def.payer(tx, view.scheme);

/** Minimum fee in native units. */
function minimumFee(tx: Tx, view: LedgerView, block: BlockContext): bigint {
  const { fees } = block.rules;
  if (!fees.enabled) return 0n;
  const base = fees.base.get(tx.type);
  if (base === undefined) return 0n;
  const extra = fees.scriptExtra * BigInt(scriptsTouched(tx, view));
  const perUnit = fees.additional.get(tx.type);
  const units = tx.def.additionalFee?.units(tx, block);
  if (perUnit === undefined || units === undefined) return base + extra;
  return base + extra + perUnit * BigInt(units);
}

function scriptsTouched(tx: Tx, view: LedgerView): number {
  let count = view.get(scripts, tx.sender) === undefined ? 0 : 1;
  for (const id of assetsTouched(tx)) {
    if (assetOf(view, id)?.script !== undefined) count++;
  }
  return count;
}

const NONE: readonly Uint8Array[] = [];

/** The assets whose scripts may judge the transaction. */
export function assetsTouched(tx: Tx): readonly Uint8Array[] {
  if (tx.def.assets !== undefined) return tx.def.assets(tx);
  const id = tx.fields['assetId'] as Uint8Array | undefined;
  return id === undefined ? NONE : [id];
}

export interface Fee {
  /** Undefined: the native token. */
  readonly feeAssetId: Uint8Array | undefined;
  readonly feeAmount: bigint;
}

/**
 * The least that the transaction may pay in its fee asset. Throws the error that `refuse` makes.
 */
export function calculateFee(
  tx: Tx,
  view: LedgerView,
  block: BlockContext,
  refuse: (reason: string) => Error = refused,
): Fee {
  const native = minimumFee(tx, view, block);
  const feeAssetId = feeAssetOf(tx);
  if (feeAssetId === undefined) return { feeAssetId, feeAmount: native };
  const { sponsorFee } = sponsored(view, feeAssetId, refuse);
  return { feeAssetId, feeAmount: mulDivFloor(native, sponsorFee, SPONSORED_UNIT) };
}

/** Throws ApiError unless the fee is enough. */
export function checkFee(tx: Tx, view: LedgerView, block: BlockContext): void {
  const { feeAssetId, feeAmount } = calculateFee(tx, view, block);
  if (block.features.has(feature.feeSwitch)) {
    if (tx.fee >= feeAmount) return;
    const of = feeAssetId === undefined ? block.rules.nativeToken : base58.encode(feeAssetId);
    throw refused(
      `Fee '${tx.fee}' in '${of}' for '${tx.def.name}' ` +
        `does not exceed minimal value of '${feeAmount}'`,
    );
  }
  if (feeAmount > 0n && tx.fee <= 0n) {
    throw refused(`Fee must be positive for tx type ${tx.type}.`);
  }
  if (tx.fee < 0n) throw refused(`Fee must be non negative for tx type ${tx.type}.`);
}

/** Takes the fee from its payer; returns what the generator of the block earns by it. */
export function chargeFee(tx: Tx, ledger: Ledger): bigint {
  const feeAssetId = feeAssetOf(tx);
  if (feeAssetId === undefined) {
    debit(ledger, payerOf(tx, ledger), tx.fee);
    return tx.fee;
  }
  const { asset, sponsorFee } = sponsored(ledger, feeAssetId, refused);
  const native = mulDivFloor(tx.fee, SPONSORED_UNIT, sponsorFee);
  move(ledger, payerOf(tx, ledger), asset.issuer, feeAssetId, tx.fee);
  debit(ledger, asset.issuer, native);
  return native;
}

function sponsored(
  view: LedgerView,
  id: Uint8Array,
  refuse: (reason: string) => Error,
): { readonly asset: Asset; readonly sponsorFee: bigint } {
  const asset = assetOf(view, id);
  if (asset === undefined) {
    throw refuse(`Asset '${base58.encode(id)}' does not exist, cannot be used to pay fees`);
  }
  const { sponsorFee } = asset;
  if (sponsorFee === undefined) {
    throw refuse(`Asset '${base58.encode(id)}' is not sponsored, cannot be used to pay fees`);
  }
  return { asset, sponsorFee };
}
