/**
 * Lookups by ids as clients send them: any bytes. Bytes of another length than an id match nothing.
 * The ledger asserts the length, because a wrong length inside the node is a fault of the node.
 */
import { base58 } from '../base/base58.ts';
import { apiError } from '../base/errors.ts';
import { BLOCK_ID_BYTES, ID_BYTES } from '../base/sizes.ts';
import { findTransaction, heightOf, type StoredTx } from '../chain/store/stored-blocks.ts';
import { type Asset, assetOf } from '../ledger/assets.ts';
import { type Contract, contractOf } from '../ledger/contracts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { type Policy, policyOf } from '../ledger/policies.ts';

/** True where the bytes may be the id of an asset, a contract or a policy. */
export const isId = (id: Uint8Array): boolean => id.length === ID_BYTES;
const isBlockId = (id: Uint8Array): boolean => id.length === BLOCK_ID_BYTES;
/** Transactions of type 2 have their signature as id. */
export const isTransactionId = (id: Uint8Array): boolean => isId(id) || isBlockId(id);

/** Undefined where the transaction is unknown or only in the pool. */
export const transactionById = (view: LedgerView, id: Uint8Array): StoredTx | undefined =>
  isTransactionId(id) ? findTransaction(view, id) : undefined;

export const heightById = (view: LedgerView, blockId: Uint8Array): number | undefined =>
  isBlockId(blockId) ? heightOf(view, blockId) : undefined;

export const assetById = (view: LedgerView, id: Uint8Array): Asset | undefined =>
  isId(id) ? assetOf(view, id) : undefined;

export const contractById = (view: LedgerView, id: Uint8Array): Contract | undefined =>
  isId(id) ? contractOf(view, id) : undefined;

/** Throws ApiError ContractNotFound. */
export function existingContract(view: LedgerView, id: Uint8Array): Contract {
  const contract = contractById(view, id);
  if (contract === undefined) throw apiError('ContractNotFound', base58.encode(id));
  return contract;
}

export const policyById = (view: LedgerView, id: Uint8Array): Policy | undefined =>
  isId(id) ? policyOf(view, id) : undefined;
