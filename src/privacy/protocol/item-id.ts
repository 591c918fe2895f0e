/** The identity of data of a policy: the policy, and the SHA-256 of the bytes. */

import { base58 } from '../../base/base58.ts';
import { concat, fromLatin1, latin1 } from '../../base/bytes.ts';
import { ID_BYTES } from '../../base/sizes.ts';

export interface ItemId {
  /** 32 bytes. */
  readonly policyId: Uint8Array;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Equal for equal items: a key of Maps and rows. */
export const itemKey = ({ policyId, hash }: ItemId): string =>
  latin1(itemBytes({ policyId, hash }));

export const itemOfKey = (key: string): ItemId => itemOfBytes(fromLatin1(key));

export const itemBytes = ({ policyId, hash }: ItemId): Uint8Array => concat(policyId, hash);

export const itemOfBytes = (bytes: Uint8Array): ItemId => ({
  policyId: bytes.subarray(0, ID_BYTES),
  hash: bytes.subarray(ID_BYTES),
});

/** The form in log lines. */
export const namesOf = ({ policyId, hash }: ItemId): { policy: string; hash: string } => ({
  policy: base58.encode(policyId),
  hash: base58.encode(hash),
});
