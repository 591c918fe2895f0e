/**
 * Accounts as they were at past heights: what generating balances and balances "with
 * confirmations" are made of (protocol.md §3).
 *
 * Invariants: one row for each block that changed an account, holding its state after that block;
 * before its first row an account was empty. A question about n blocks reads at most n + 1 rows,
 * however long the chain is.
 */
import { type Account, EMPTY_ACCOUNT, effective } from './accounts.ts';
import type { LedgerView, Overlay } from './ledger.ts';
import { accountHistory, accounts } from './tables.ts';

/** Blocks over which the effective balance of a generator must have been held. */
export const GENERATING_DEPTH = 1000;

/** Writes the rows of a block; called once, after everything else that changes accounts. */
export function recordHistory(ledger: Overlay, height: number): void {
  const changed: (readonly [Uint8Array, Account])[] = [];
  for (const { table, key, after } of ledger.changes()) {
    // Rows of this table hold accounts, and accounts are never removed.
    if (table.id === accounts.id) changed.push([key, after as Account]);
  }
  for (const [address, account] of changed) {
    ledger.set(accountHistory, [address, height], account);
  }
}

/** The account after the block at `height`. */
export function accountAt(view: LedgerView, address: Uint8Array, height: number): Account {
  for (const [, account] of newestFirst(view, address, height, 1)) return account;
  return EMPTY_ACCOUNT;
}

/** The minimum of `of` over the last `blocks` blocks up to `height`, fewer on a shorter chain. */
export function minimumOver(
  view: LedgerView,
  address: Uint8Array,
  height: number,
  blocks: number,
  of: (account: Account) => bigint,
): bigint {
  const first = Math.max(1, height - blocks + 1);
  let minimum: bigint | undefined;
  for (const [[, at], account] of newestFirst(view, address, height, height - first + 2)) {
    const value = of(account);
    if (minimum === undefined || value < minimum) minimum = value;
    if (at <= first) return minimum;
  }
  // Nothing was in force at the lower bound, so the account was empty then.
  return of(EMPTY_ACCOUNT);
}

/** Minimum of the effective balance over the last 1000 blocks. */
export const generatingBalance = (view: LedgerView, address: Uint8Array, height: number): bigint =>
  minimumOver(view, address, height, GENERATING_DEPTH, effective);

function newestFirst(
  view: LedgerView,
  address: Uint8Array,
  height: number,
  limit: number,
): Iterable<readonly [readonly [Uint8Array, number], Account]> {
  const { key } = accountHistory;
  const from = key.encode([address, 0]);
  const to = key.encode([address, height + 1]);
  return view.range(accountHistory, from, to, limit, true);
}
