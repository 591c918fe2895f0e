/** The transaction that binds data to a policy (114), made from a client's request. */
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { unsignedFromJson } from '../../tx/json/encode.ts';
import type { Tx } from '../../tx/transaction.ts';
import { policyDataHash } from '../../tx/types/114-policy-data-hash.ts';
import type { ItemId } from '../protocol/item-id.ts';
import type { DataToSend } from './data-to-send.ts';

export interface DataHashPorts {
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  /** `privacy.owner-address`. */
  readonly ownerAddress: Uint8Array;
  readonly keystore: {
    publicKey(address: Uint8Array): Uint8Array | undefined;
    /** Throws or rejects with MissingSenderPrivateKey. */
    sign(
      address: Uint8Array,
      password: string | undefined,
      message: Uint8Array,
      kind?: 'transaction',
    ): Uint8Array | Promise<Uint8Array>;
  };
  /** The least fee. */
  readonly feeOf: (tx: Tx) => bigint;
}

/**
 * The complete transaction. Making it proves that the keystore has the key and that the password is
 * right.
 */
export async function dataHashTx(
  request: DataToSend,
  { policyId, hash }: ItemId,
  { scheme, clock, ownerAddress, keystore, feeOf }: DataHashPorts,
): Promise<Tx> {
  const sender = scheme.addressFromText(request.sender);
  if (!equal(sender, ownerAddress)) {
    throw apiError(
      'Invalid',
      `Sender '${request.sender}' is not the owner '${scheme.addressToText(ownerAddress)}' of the private data of this node`,
    );
  }
  const { version = 1, fee, feeAssetId, timestamp, password, atomicBadge } = request;
  const draft = unsignedFromJson(
    {
      type: policyDataHash.type,
      version,
      sender: request.sender,
      policyId: base58.encode(policyId),
      dataHash: base58.encode(hash),
      fee,
      feeAssetId,
      timestamp,
      atomicBadge,
    },
    scheme,
    {
      publicKeyOf: (address) => keystore.publicKey(address),
      timestamp: clock.now(),
      feeOf,
    },
  );
  return draft.assemble([await keystore.sign(sender, password, draft.message, 'transaction')]);
}
