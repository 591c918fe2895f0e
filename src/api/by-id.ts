/**
 * What has an id, as clients send ids: any bytes. What has not the length of an id is the id of
 * nothing; the ledger asserts the length, since inside the node a wrong one is a mistake of ours.
 */
import { BLOCK_ID_BYTES, ID_BYTES } from '../base/sizes.ts';
import { findTransaction, heightOf, type StoredTx } from '../chain/stored-blocks.ts';
import { type Asset, assetOf } from '../ledger/assets.ts';
import { type Contract, contractOf } from '../ledger/contracts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { type Policy, policyOf } from '../ledger/policies.ts';

/** Could name an asset, a contract, a policy. */
export const isId = (id: Uint8Array): boolean => id.length === ID_BYTES;
const isBlockId = (id: Uint8Array): boolean => id.length === BLOCK_ID_BYTES;

/** Undefined where the transaction is unknown or only in the pool. */
export const transactionById = (view: LedgerView, id: Uint8Array): StoredTx | undefined =>
  isId(id) || isBlockId(id) ? findTransaction(view, id) : undefined;

export const heightById = (view: LedgerView, blockId: Uint8Array): number | undefined =>
  isBlockId(blockId) ? heightOf(view, blockId) : undefined;

export const assetById = (view: LedgerView, id: Uint8Array): Asset | undefined =>
  isId(id) ? assetOf(view, id) : undefined;

export const contractById = (view: LedgerView, id: Uint8Array): Contract | undefined =>
  isId(id) ? contractOf(view, id) : undefined;

export const policyById = (view: LedgerView, id: Uint8Array): Policy | undefined =>
  isId(id) ? policyOf(view, id) : undefined;
