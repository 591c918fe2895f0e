/**
 * Assets and their balances (state.md#balances, state.md#rules-of-each-type).
 *
 * Invariants: `assetBalances` and `assetHolders` hold the same balances, and neither has a row for
 * zero; the balances of an asset sum up to its quantity.
 */
import { concat } from '../base/bytes.ts';
import { add } from '../base/int.ts';
import { credit } from './accounts.ts';
import { prefixEnd } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import type { Table } from './table.ts';
import { assetBalances, assetHolders, assets } from './tables.ts';

type RowOf<T> = T extends Table<infer _, infer V> ? V : never;
export type Asset = RowOf<typeof assets>;

/** An asset id, or undefined for the native token. */
export type AssetRef = Uint8Array | undefined;

export const assetOf = (view: LedgerView, id: Uint8Array): Asset | undefined =>
  view.get(assets, id);

export const assetBalance = (view: LedgerView, address: Uint8Array, id: Uint8Array): bigint =>
  view.get(assetBalances, [address, id]) ?? 0n;

/** Adds to an asset balance; a negative amount is taken away. Throws ApiError Overflow. */
export function creditAsset(
  ledger: Ledger,
  address: Uint8Array,
  id: Uint8Array,
  amount: bigint,
): void {
  if (amount === 0n) return;
  const balance = add(assetBalance(ledger, address, id), amount);
  if (balance === 0n) {
    ledger.remove(assetBalances, [address, id]);
    ledger.remove(assetHolders, [id, address]);
  } else {
    ledger.set(assetBalances, [address, id], balance);
    ledger.set(assetHolders, [id, address], balance);
  }
}

/** Adds to a native or asset balance. Throws ApiError Overflow. */
export function creditAny(
  ledger: Ledger,
  address: Uint8Array,
  asset: AssetRef,
  amount: bigint,
): void {
  if (asset === undefined) credit(ledger, address, amount);
  else creditAsset(ledger, address, asset, amount);
}

/** Moves an amount from one account to another, which may be the same. Throws ApiError Overflow. */
export function move(
  ledger: Ledger,
  from: Uint8Array,
  to: Uint8Array,
  asset: AssetRef,
  amount: bigint,
): void {
  creditAny(ledger, from, asset, -amount);
  creditAny(ledger, to, asset, amount);
}

/** The assets of which an address has more than 0, in the order of their ids; those after `after`. */
export function* assetsOf(
  view: LedgerView,
  address: Uint8Array,
  limit: number,
  after?: Uint8Array,
): Generator<readonly [id: Uint8Array, balance: bigint]> {
  const from = after === undefined ? address : prefixEnd(concat(address, after));
  const rows = view.range(assetBalances, from, prefixEnd(address), limit);
  for (const [[, id], balance] of rows) yield [id, balance];
}

/** The addresses that have more than 0 of an asset, in the order of addresses. */
export function* holdersOf(
  view: LedgerView,
  id: Uint8Array,
  limit: number,
): Generator<readonly [address: Uint8Array, balance: bigint]> {
  const rows = view.range(assetHolders, id, prefixEnd(id), limit);
  for (const [[, address], balance] of rows) yield [address, balance];
}
