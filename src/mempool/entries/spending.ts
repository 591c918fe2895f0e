/**
 * The sum that the entries of one sender would take from it. The state alone would let a sender
 * spend the same funds in two entries, since each is checked against the head only. This sum
 * refuses the second entry at once, before it gets into a block (mempool.md, H-17: shares of the
 * pool).
 */

import { equal, latin1 } from '../../base/bytes.ts';
import { type Account, available } from '../../ledger/accounts.ts';
import { assetOf } from '../../ledger/assets.ts';
import type { Change, LedgerView } from '../../ledger/ledger.ts';
import { accounts, assetBalances } from '../../ledger/tables.ts';
import { membersOf } from '../../tx/members.ts';
import { feeAssetOf, payerOf } from '../../tx/rules/fees.ts';
import type { Tx } from '../../tx/transaction.ts';

export interface Spending {
  /** The decrease of the available native balance, at least 0. */
  readonly native: bigint;
  /** Asset id as Latin-1 text → decrease; undefined where no asset leaves the sender. */
  readonly assets: ReadonlyMap<string, bigint> | undefined;
  /**
   * What leaves others who have signed: the senders of members, and who pays the fee; by their
   * addresses as Latin-1 text. Absent in all other transactions.
   */
  readonly others?: ReadonlyMap<string, Spending> | undefined;
  /** What leaves the sponsors of its fees, who have signed nothing; as `others`. */
  readonly sponsors?: ReadonlyMap<string, Spending> | undefined;
}

export const NOTHING_SPENT: Spending = { native: 0n, assets: undefined };

const availableIn = (row: unknown): bigint => (row === undefined ? 0n : available(row as Account));

/** The decreases that the writes cause for everybody from whom the transaction takes something. */
export function spendingOfAll(tx: Tx, view: LedgerView, changes: () => Iterable<Change>): Spending {
  const spending = spendingOf(tx.sender, changes());
  const { members, payer } = tx.def;
  if (members === undefined && payer === undefined && feeAssetOf(tx) === undefined) return spending;
  const others = new Map<string, Spending>();
  const sponsors = new Map<string, Spending>();
  const note = (address: Uint8Array, among: Map<string, Spending>): void => {
    const key = latin1(address);
    if (equal(address, tx.sender) || others.has(key) || sponsors.has(key)) return;
    among.set(key, spendingOf(address, changes()));
  };
  const parts = [tx, ...membersOf(tx)];
  for (const part of parts) {
    note(part.sender, others);
    note(payerOf(part, view), others);
  }
  for (const part of parts) {
    const asset = feeAssetOf(part);
    const issuer = asset && assetOf(view, asset)?.issuer;
    if (issuer !== undefined) note(issuer, sponsors);
  }
  if (others.size === 0 && sponsors.size === 0) return spending;
  return {
    ...spending,
    ...(others.size > 0 && { others }),
    ...(sponsors.size > 0 && { sponsors }),
  };
}

/** The decreases for `address` that the writes of a transaction cause. */
function spendingOf(address: Uint8Array, changes: Iterable<Change>): Spending {
  let native = 0n;
  let assets: Map<string, bigint> | undefined;
  for (const { table, key, before, after } of changes) {
    if (table.id === accounts.id) {
      if (!equal(key, address)) continue;
      const delta = availableIn(before) - availableIn(after);
      if (delta > 0n) native = delta;
    } else if (table.id === assetBalances.id && equal(key.subarray(0, address.length), address)) {
      const delta = ((before as bigint | undefined) ?? 0n) - ((after as bigint | undefined) ?? 0n);
      if (delta <= 0n) continue;
      assets ??= new Map();
      assets.set(latin1(key.subarray(address.length)), delta);
    }
  }
  return { native, assets };
}
