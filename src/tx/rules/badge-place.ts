/** A badge says that its transaction is a part of an atomic one, and of nothing else. */
import { refused } from '../../base/errors.ts';
import type { Tx } from '../transaction.ts';

/** Throws ApiError where a transaction with a badge stands alone (transactions.md#atomic-transactions). */
export function requireBadgePlace({ fields }: Pick<Tx, 'fields'>, isMember: boolean): void {
  if (isMember || fields['atomicBadge'] === undefined) return;
  throw refused('Transactions with atomic badge cannot be mined outside of atomic container');
}
