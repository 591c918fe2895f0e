/** Rules that the types of access groups share (state.md#rules-of-each-type, types 112–114). */
import { apiError } from '../../base/errors.ts';
import { base58 } from '../../codec/text.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { isParticipant } from '../../ledger/participants.ts';
import { policyOf } from '../../ledger/policies.ts';

/** Throws ApiError where the group does not exist. */
export function requirePolicy(view: LedgerView, id: Uint8Array): void {
  if (policyOf(view, id) !== undefined) return;
  throw apiError('PolicyNotFound', `Object with policyId = ${base58.encode(id)} does not exist`);
}

const SHOWN_MAX = 20;

/**
 * The addresses, as text, that are not participants of the network; only the first ones of many.
 */
export function strangersIn(view: LedgerView, addresses: readonly Uint8Array[]): readonly string[] {
  const strangers = addresses.filter((address) => !isParticipant(view, address));
  const shown = strangers.slice(0, SHOWN_MAX).map(view.scheme.addressToText);
  const rest = strangers.length - shown.length;
  return rest === 0 ? shown : [...shown, `and ${rest} more`];
}
