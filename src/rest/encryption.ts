/**
 * Encryption between accounts with the keys of this node's keystore
 * (accounts.md#encryption-between-accounts). Rejects with MissingSenderPrivateKey where the
 * keystore lacks the key or the password is wrong, and with InvalidPublicKey for a key with which
 * no shared secret exists.
 */
import { base58 } from '../base/base58.ts';
import { apiError } from '../base/errors.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { decryptText, encryptCommon, encryptSeparate } from '../crypto/envelope.ts';
import type { Services } from './services.ts';

type Needs = Pick<Services, 'keystore' | 'family' | 'random' | 'clock'>;

/** The account whose private key is used, and its password, if it has one. */
export interface KeyOwner {
  readonly address: Uint8Array;
  readonly password: string | undefined;
}

const encrypting =
  <T>(encrypt: (...of: Parameters<typeof encryptCommon>) => Promise<T>) =>
  (
    from: KeyOwner,
    recipients: readonly Uint8Array[],
    plain: Uint8Array,
    { keystore, family, random, clock }: Needs,
  ): Promise<T> =>
    withKey(from, keystore, (key) => {
      refuseWeak(recipients, family);
      return encrypt(family, key, recipients, plain, random, new TimeSlice(clock));
    });

/** An envelope for each recipient, in the order of the recipients. */
export const separate = encrypting(encryptSeparate);

/** One ciphertext, with its key wrapped for each recipient. */
export const common = encrypting(encryptCommon);

/** Undefined where authentication fails; `decryptText` reads the texts. */
export const decrypted = (
  to: KeyOwner,
  senderPublicKey: Uint8Array,
  encryptedText: string,
  wrappedKey: string,
  { keystore, family }: Needs,
): Promise<Uint8Array | undefined> =>
  withKey(to, keystore, (key) =>
    decryptText(family, key, senderPublicKey, encryptedText, wrappedKey),
  );

/** The key is overwritten when the work is done. */
async function withKey<T>(
  { address, password }: KeyOwner,
  keystore: Needs['keystore'],
  work: (privateKey: Uint8Array) => T | Promise<T>,
): Promise<T> {
  const privateKey = await keystore.requestKey(address, password);
  try {
    return await work(privateKey);
  } finally {
    privateKey.fill(0);
  }
}

function refuseWeak(publicKeys: readonly Uint8Array[], family: Needs['family']): void {
  const weak = publicKeys.find((key) => family.isWeakPublicKey(key));
  if (weak !== undefined) {
    throw apiError('InvalidPublicKey', `no secret can be shared with '${base58.encode(weak)}'`);
  }
}
