/**
 * No transaction may leave an account with a negative balance (state.md#balances). One check
 * compares what the sender wants to spend before the rules run; another looks at every balance that
 * was written afterwards.
 */
import { equal } from '../../base/bytes.ts';
import { type ApiError, refused } from '../../base/errors.ts';
import { base58 } from '../../codec/text.ts';
import { type Account, accountOf } from '../../ledger/accounts.ts';
import { assetBalance } from '../../ledger/assets.ts';
import type { LedgerView, Overlay } from '../../ledger/ledger.ts';
import { accounts, assetBalances } from '../../ledger/tables.ts';
import type { Tx } from '../transaction.ts';
import { feeAssetOf, payerOf } from './fees.ts';

/**
 * The refusal of spending more than the account owns; `what` is the native token or `asset '…'`.
 * Clients know the reference's texts, which say "is" before the balance of an asset.
 */
export const unavailableFunds = (
  what: string,
  balance: bigint,
  spends: bigint,
  verb: 'equals' | 'is' = 'equals',
): ApiError =>
  refused(
    'Attempt to transfer unavailable funds: Transaction application leads to negative ' +
      `${what} balance to (at least) temporary negative state, current balance ${verb} ${balance}, ` +
      `spends equals ${-spends}, result is ${balance - spends}`,
  );

/**
 * Throws ApiError where amount and fee exceed what the accounts own; funds that they lease out
 * count as owned.
 */
export function checkSpending(tx: Tx, view: LedgerView, nativeToken: string): void {
  const feeAsset = feeAssetOf(tx);
  const payer = payerOf(tx, view);
  if (tx.def.spends === undefined) {
    check(view, payer, feeAsset, tx.fee, nativeToken);
    return;
  }
  const { assetId, amount } = tx.def.spends(tx);
  if (payer === tx.sender && same(assetId, feeAsset)) {
    check(view, payer, assetId, amount + tx.fee, nativeToken);
  } else {
    check(view, tx.sender, assetId, amount, nativeToken);
    check(view, payer, feeAsset, tx.fee, nativeToken);
  }
}

const same = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : equal(a, b);

function check(
  view: LedgerView,
  address: Uint8Array,
  assetId: Uint8Array | undefined,
  spends: bigint,
  nativeToken: string,
): void {
  if (assetId === undefined) {
    const { balance } = accountOf(view, address);
    if (balance >= spends) return;
    throw unavailableFunds(nativeToken, balance, spends);
  }
  const balance = assetBalance(view, address, assetId);
  if (balance >= spends) return;
  throw unavailableFunds(`asset '${base58.encode(assetId)}'`, balance, spends, 'is');
}

/**
 * Throws ApiError where a balance written since the mark is negative, after reverting the writes.
 */
export function checkBalances(ledger: Overlay, mark: number, nativeToken: string): void {
  let bad: Bad[] | undefined;
  for (const { table, key, after } of ledger.since(mark)) {
    // Rows of a table hold values of that table.
    if (table.id === accounts.id) {
      if (isNegative(after as Account)) {
        bad ??= [];
        bad.push({ address: key, account: after as Account });
      }
    } else if (table.id === assetBalances.id && after !== undefined && (after as bigint) < 0n) {
      const [address, assetId] = assetBalances.key.decode(key);
      bad ??= [];
      bad.push({ address, assetId, balance: after as bigint });
    }
  }
  if (bad === undefined) return;
  ledger.revert(mark);
  const texts = new Map<string, string>();
  for (const row of bad) {
    const holder = ledger.scheme.addressToText(row.address);
    if (!texts.has(holder)) texts.set(holder, problemOf(ledger, row, holder, nativeToken));
  }
  const all = [...texts].map(([holder, text]) => `${holder} -> ${text}`).join(', ');
  throw refused(`BalanceErrors(${all})`);
}

type Bad =
  | { readonly address: Uint8Array; readonly account: Account }
  | { readonly address: Uint8Array; readonly assetId: Uint8Array; readonly balance: bigint };

const isNegative = ({ balance, leasedIn, leasedOut }: Account): boolean =>
  balance < leasedOut || leasedOut < 0n || leasedIn < 0n;

function problemOf(view: LedgerView, row: Bad, holder: string, nativeToken: string): string {
  if ('assetId' in row) {
    const id = base58.encode(row.assetId);
    return `negative asset balance: [asset: '${id}' -> balance: '${row.balance}']`;
  }
  const { balance, leasedIn, leasedOut } = row.account;
  if (balance < 0n) {
    const old = accountOf(view, row.address).balance;
    return `negative ${nativeToken} balance: ${holder}, old: ${old}, new: ${balance}`;
  }
  if (leasedOut < 0n) return 'cannot lease-out negative amount';
  if (leasedIn < 0n) return 'cannot have negative lease-in balance';
  return 'cannot spend leased balance';
}
