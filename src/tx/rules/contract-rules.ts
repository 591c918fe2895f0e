/** Rules that the types of container contracts share (contracts.md#execution-and-results). */
import { apiError, refused } from '../../base/errors.ts';
import { base58 } from '../../codec/text.ts';
import { type Contract, contractOf, executedBy } from '../../ledger/contracts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';

/** Throws ApiError where there is no such contract. */
export function existingContract(view: LedgerView, id: Uint8Array): Contract {
  const contract = contractOf(view, id);
  if (contract === undefined) throw apiError('ContractNotFound', base58.encode(id));
  return contract;
}

/** Throws ApiError where the contract has been disabled. */
export function guardActive(contract: Contract, id: Uint8Array): void {
  if (!contract.active) throw apiError('ContractDisabled', base58.encode(id));
}

/** Throws ApiError where a block already holds the results of this transaction. */
export function guardNotExecuted(view: LedgerView, id: Uint8Array): void {
  if (executedBy(view, id) === undefined) return;
  throw refused(`Executable transaction ${base58.encode(id)} has been already executed`);
}
