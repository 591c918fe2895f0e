/**
 * Leases (state.md#rules-of-each-type, types 8 and 9).
 *
 * Invariant: the sums of all leasedIn, of all leasedOut and of the amounts of active leases are
 * equal; `activeLeases` lists every active lease under both of its accounts, and no other lease.
 */
import { leaseIn, leaseOut } from './accounts.ts';
import { prefixEnd } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { activeLeases, leases } from './tables.ts';

export interface Lease {
  readonly sender: Uint8Array;
  readonly recipient: Uint8Array;
  readonly amount: bigint;
  /** Height of the block with the lease transaction. */
  readonly height: number;
  readonly active: boolean;
}

export const leaseOf = (view: LedgerView, id: Uint8Array): Lease | undefined =>
  view.get(leases, id);

/** Throws ApiError Overflow. */
export function beginLease(ledger: Ledger, id: Uint8Array, lease: Omit<Lease, 'active'>): void {
  const { sender, recipient, amount, height } = lease;
  leaseOut(ledger, sender, amount);
  leaseIn(ledger, recipient, amount);
  ledger.set(leases, id, { ...lease, active: true });
  ledger.set(activeLeases, [sender, height, id], true);
  ledger.set(activeLeases, [recipient, height, id], true);
}

export function endLease(ledger: Ledger, id: Uint8Array, lease: Lease): void {
  const { sender, recipient, amount, height } = lease;
  leaseOut(ledger, sender, -amount);
  leaseIn(ledger, recipient, -amount);
  ledger.set(leases, id, { ...lease, active: false });
  ledger.remove(activeLeases, [sender, height, id]);
  ledger.remove(activeLeases, [recipient, height, id]);
}

/** The ids of the active leases that an address gave or received, newest first. */
export function* activeLeasesOf(
  view: LedgerView,
  address: Uint8Array,
  limit: number,
): Generator<Uint8Array> {
  const rows = view.range(activeLeases, address, prefixEnd(address), limit);
  for (const [[, , id]] of rows) yield id;
}
