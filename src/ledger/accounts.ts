/**
 * Native balances of accounts (state.md#balances): reading and moving.
 *
 * Invariants: an account that never had a balance has no row; every addition is checked for
 * overflow (H-11). A move may leave a balance negative for a moment. tx/rules/balance-check.ts
 * refuses a transaction that leaves one negative at its end.
 */
import { add } from '../base/int.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { accounts } from './tables.ts';

export interface Account {
  /** Includes the amount that is leased out. */
  readonly balance: bigint;
  readonly leasedIn: bigint;
  readonly leasedOut: bigint;
}

export const EMPTY_ACCOUNT: Account = { balance: 0n, leasedIn: 0n, leasedOut: 0n };

export const accountOf = (view: LedgerView, address: Uint8Array): Account =>
  view.get(accounts, address) ?? EMPTY_ACCOUNT;

/** The amount that the owner may spend. */
export const available = (account: Account): bigint => account.balance - account.leasedOut;

/** The amount that counts for making blocks. */
export const effective = (account: Account): bigint =>
  account.balance - account.leasedOut + account.leasedIn;

/** Throws ApiError Overflow. */
export function credit(ledger: Ledger, address: Uint8Array, amount: bigint): void {
  if (amount === 0n) return;
  const { balance, leasedIn, leasedOut } = accountOf(ledger, address);
  ledger.set(accounts, address, { balance: add(balance, amount), leasedIn, leasedOut });
}

export function debit(ledger: Ledger, address: Uint8Array, amount: bigint): void {
  credit(ledger, address, -amount);
}

/**
 * Adds to the amount that the owner has leased out; negative when a lease ends. Throws ApiError
 * Overflow.
 */
export function leaseOut(ledger: Ledger, address: Uint8Array, amount: bigint): void {
  const { balance, leasedIn, leasedOut } = accountOf(ledger, address);
  ledger.set(accounts, address, { balance, leasedIn, leasedOut: add(leasedOut, amount) });
}

/**
 * Adds to the amount that others have leased to the account; negative when a lease ends. Throws
 * ApiError Overflow.
 */
export function leaseIn(ledger: Ledger, address: Uint8Array, amount: bigint): void {
  const { balance, leasedIn, leasedOut } = accountOf(ledger, address);
  ledger.set(accounts, address, { balance, leasedIn: add(leasedIn, amount), leasedOut });
}
