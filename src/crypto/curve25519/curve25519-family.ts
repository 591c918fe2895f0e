/** The international family (`platform-crypto: yes`, accounts.md), on libsodium. */
import type { CryptoCharges } from '../../base/charge.ts';
import type { CryptoFamily } from '../family.ts';
import { fastHash, secureHash } from './hashes.ts';
import {
  accountSeed,
  agree,
  generateKeyPair,
  isWeakPublicKey,
  KEY_SIZE,
  keyPairFromPhrase,
  keyPairFromSeed,
  publicKeyOf,
} from './keys.ts';
import { open, openPiece, seal, sealPiece } from './sealing.ts';
import { SIGNATURE_SIZE, sign } from './signatures.ts';
import { SignatureVerification } from './verification.ts';

const CONTENT_KEY_SIZE = 16;
const CACHED_KEYS = 8_192;

const CHARGES: CryptoCharges = {
  hash: { fixed: 30, per: 4, each: 128 },
  verify: { fixed: 2200, per: 8, each: 128 },
};

export interface Curve25519Options {
  /**
   * The number of converted public keys that checks keep, 69 bytes each. An eighth of them, 800 at
   * most, has tables of 10 KiB.
   */
  readonly cachedKeys?: number;
}

export function createCurve25519(options: Curve25519Options = {}): CryptoFamily {
  const verification = new SignatureVerification(options.cachedKeys ?? CACHED_KEYS);
  return {
    name: 'curve25519',
    title: 'international',
    platformCrypto: true,
    keystoreLayout: 'file',
    hasCompatibleKeyFiles: true,
    publicKeySize: KEY_SIZE,
    signatureSize: SIGNATURE_SIZE,
    messageCipher: 'aes',
    contentKeySize: CONTENT_KEY_SIZE,
    charges: CHARGES,
    fastHash,
    secureHash,
    accountSeed,
    keyPairFromSeed,
    keyPairFromPhrase,
    generateKeyPair,
    publicKeyOf,
    isWeakPublicKey,
    sign,
    verify: (publicKey, message, signature) => verification.verify(publicKey, message, signature),
    verifyAll: (checks) => verification.verifyAll(checks),
    agree,
    seal,
    open,
    sealPiece,
    openPiece,
    wrapKey: (privateKey, publicKey, contentKey, random) =>
      seal(agree(privateKey, publicKey), contentKey, random),
    unwrapKey(privateKey, publicKey, wrapped) {
      if (publicKey.length !== KEY_SIZE || isWeakPublicKey(publicKey)) return undefined;
      const contentKey = open(agree(privateKey, publicKey), wrapped);
      return contentKey?.length === CONTENT_KEY_SIZE ? contentKey : undefined;
    },
  };
}
