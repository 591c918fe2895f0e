/** Rules that the types of access groups share (protocol.md §6.4, types 112–114). */
import { apiError } from '../base/errors.ts';
import { base58 } from '../codec/text.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { isParticipant } from '../ledger/participants.ts';
import { policyOf } from '../ledger/policies.ts';

/** Throws ApiError where there is no such group. */
export function requirePolicy(view: LedgerView, id: Uint8Array): void {
  if (policyOf(view, id) !== undefined) return;
  throw apiError('PolicyNotFound', `Object with policyId = ${base58.encode(id)} does not exist`);
}

/** Those who are no participants of the network, as text. */
export const strangersIn = (
  view: LedgerView,
  addresses: readonly Uint8Array[],
): readonly string[] =>
  addresses.filter((address) => !isParticipant(view, address)).map(view.chain.addressToText);
