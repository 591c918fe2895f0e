/**
 * The sum that the entries of one sender would take from it. The state alone would let a sender
 * spend the same funds in two entries, since each is checked against the head only. This sum
 * refuses the second entry at once, before it gets into a block (mempool.md, H-17: shares of the
 * pool).
 */

import { equal, latin1 } from '../../base/bytes.ts';
import type { Change } from '../../ledger/ledger.ts';
import { accounts, assetBalances } from '../../ledger/tables.ts';
import { membersOf } from '../../tx/members.ts';
import type { Tx } from '../../tx/transaction.ts';

export interface Spending {
  /** The decrease of the available native balance, at least 0. */
  readonly native: bigint;
  /** Asset id as Latin-1 text → decrease; undefined where no asset leaves the sender. */
  readonly assets: ReadonlyMap<string, bigint> | undefined;
  /**
   * What leaves other senders of an atomic transaction, by their addresses as Latin-1 text; absent
   * in all others.
   */
  readonly others?: ReadonlyMap<string, Spending>;
}

export const NOTHING_SPENT: Spending = { native: 0n, assets: undefined };

interface Account {
  readonly balance: bigint;
  readonly leasedOut: bigint;
}

const available = (value: unknown): bigint => {
  const account = value as Account | undefined;
  return account === undefined ? 0n : account.balance - account.leasedOut;
};

/** The decreases for the sender, and for the senders of the members, that the writes cause. */
export function spendingOfAll(tx: Tx, changes: () => Iterable<Change>): Spending {
  const spending = spendingOf(tx.sender, changes());
  const others = new Map<string, Spending>();
  for (const { sender } of membersOf(tx)) {
    const key = latin1(sender);
    if (equal(sender, tx.sender) || others.has(key)) continue;
    others.set(key, spendingOf(sender, changes()));
  }
  return others.size === 0 ? spending : { ...spending, others };
}

/** The decreases for `address` that the writes of a transaction cause. */
export function spendingOf(address: Uint8Array, changes: Iterable<Change>): Spending {
  let native = 0n;
  let assets: Map<string, bigint> | undefined;
  for (const { table, key, before, after } of changes) {
    if (table.id === accounts.id) {
      if (!equal(key, address)) continue;
      const delta = available(before) - available(after);
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
