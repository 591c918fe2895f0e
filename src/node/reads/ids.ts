/**
 * Ids as clients send them: any bytes. What has not the length of an id is the id of nothing; the
 * ledger asserts the length, since inside the node a wrong one is a mistake of ours.
 */
const ID_BYTES = 32;
/** Of blocks, and of the transactions of the genesis block. */
const SIGNATURE_BYTES = 64;

/** Could name an asset, a contract, a policy. */
export const isId = (id: Uint8Array): boolean => id.length === ID_BYTES;
export const isBlockId = (id: Uint8Array): boolean => id.length === SIGNATURE_BYTES;
export const isTransactionId = (id: Uint8Array): boolean => isId(id) || isBlockId(id);
