/** Encryption between accounts, with the keys of this node's keystore. */
import type { Encryption, KeyOwner } from '../api/services.ts';
import { base58 } from '../base/base58.ts';
import { apiError } from '../base/errors.ts';
import type { Clock, Random } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { decryptText, encryptCommon, encryptSeparate } from '../crypto/envelope.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Keystore } from '../keystore/keystore.ts';

export interface EncryptionDeps {
  readonly keystore: Pick<Keystore, 'requestKey'>;
  readonly family: CryptoFamily;
  readonly random: Random;
  readonly clock: Clock;
}

export function encryptionWith({ keystore, family, random, clock }: EncryptionDeps): Encryption {
  /** The key leaves memory when the work is done. */
  async function withKey<T>(
    { address, password }: KeyOwner,
    work: (privateKey: Uint8Array) => T | Promise<T>,
  ): Promise<T> {
    const privateKey = await keystore.requestKey(address, password);
    try {
      return await work(privateKey);
    } finally {
      privateKey.fill(0);
    }
  }

  function refuseWeak(publicKeys: readonly Uint8Array[]): void {
    const weak = publicKeys.find((key) => family.isWeakPublicKey(key));
    if (weak !== undefined) {
      throw apiError('InvalidPublicKey', `no secret can be shared with '${base58.encode(weak)}'`);
    }
  }

  return {
    separate: (from, recipients, plain) =>
      withKey(from, (key) => {
        refuseWeak(recipients);
        return encryptSeparate(family, key, recipients, plain, random, createTurns(clock));
      }),
    common: (from, recipients, plain) =>
      withKey(from, (key) => {
        refuseWeak(recipients);
        return encryptCommon(family, key, recipients, plain, random, createTurns(clock));
      }),
    decrypt: (to, senderPublicKey, encryptedText, wrappedKey) =>
      withKey(to, (key) => decryptText(family, key, senderPublicKey, encryptedText, wrappedKey)),
  };
}
