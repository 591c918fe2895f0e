/**
 * Ids as clients send them: any bytes. What has not the length of an id is the id of nothing; the
 * ledger asserts the length, since inside the node a wrong one is a mistake of ours.
 */
import { BLOCK_ID_BYTES, ID_BYTES } from '../../base/sizes.ts';

/** Could name an asset, a contract, a policy. */
export const isId = (id: Uint8Array): boolean => id.length === ID_BYTES;
export const isBlockId = (id: Uint8Array): boolean => id.length === BLOCK_ID_BYTES;
export const isTransactionId = (id: Uint8Array): boolean => isId(id) || isBlockId(id);
