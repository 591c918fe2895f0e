/**
 * The national-standard family (`platform-crypto: no`, accounts.md#the-national-family): Streebog,
 * GOST R 34.10-2012 on the curve CryptoPro-A, VKO and Kuznyechik.
 */

import { concat } from '../../base/bytes.ts';
import type { CryptoCharges } from '../../base/charge.ts';
import { CryptoError, type CryptoFamily } from '../family.ts';
import { createGroup } from './group.ts';
import { createKeys, MATERIAL_SIZE, PUBLIC_KEY_SIZE } from './keys.ts';
import { createKuznyechik, KEY_SIZE } from './kuznyechik.ts';
import { createLimbs } from './limbs.ts';
import { BASE_TABLE_BYTES, createMultiples, KEY_TABLE_BYTES } from './multiples.ts';
import { createScalars } from './scalars.ts';
import { createSealing } from './sealing.ts';
import { createSignatures, SIGNATURE_SIZE } from './signatures.ts';
import { createStreebog } from './streebog.ts';
import { createEngine } from './wasm/engine.ts';

/** 12 MiB, of which the machine provides what is used. */
const CACHED_KEYS_MAX = 4_096;

const CHARGES: CryptoCharges = {
  hash: { fixed: 20, per: 60, each: 128 },
  verify: { fixed: 8000, per: 60, each: 128 },
};

export interface GostOptions {
  /** The number of public keys whose tables `verify` caches, 3 KiB each; at most 4096. */
  readonly cachedKeys?: number;
}

export function createGost(options: GostOptions = {}): CryptoFamily {
  const keysMax = Math.min(CACHED_KEYS_MAX, options.cachedKeys ?? CACHED_KEYS_MAX);
  const engine = createEngine(BASE_TABLE_BYTES + keysMax * KEY_TABLE_BYTES);
  const limbs = createLimbs(engine.memory);
  const scalars = createScalars(engine, limbs);
  const group = createGroup(engine, limbs);
  const multiples = createMultiples(engine, group, keysMax);
  const streebog = createStreebog(engine);
  const { seal, open, sealPiece, openPiece } = createSealing(streebog, createKuznyechik(engine));
  const keys = createKeys({ engine, limbs, scalars, group, streebog });
  const signatures = createSignatures({ engine, limbs, scalars, group, multiples, streebog });
  const hash = (message: Uint8Array): Uint8Array => streebog.hash256(message);

  const verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
    publicKey.length === PUBLIC_KEY_SIZE &&
    signature.length === SIGNATURE_SIZE &&
    signatures.verify(publicKey, message, signature);

  return {
    name: 'gost',
    title: 'national',
    platformCrypto: false,
    keystoreLayout: 'directory',
    hasCompatibleKeyFiles: false,
    publicKeySize: PUBLIC_KEY_SIZE,
    signatureSize: SIGNATURE_SIZE,
    messageCipher: 'gost-3412-2015-k',
    contentKeySize: KEY_SIZE,
    charges: CHARGES,
    fastHash: hash,
    secureHash: hash,
    accountSeed: keys.accountSeed,
    keyPairFromSeed: keys.keyPairFromSeed,
    keyPairFromPhrase: (phrase, nonce) => keys.keyPairFromSeed(keys.accountSeed(phrase, nonce)),
    generateKeyPair: keys.generateKeyPair,
    publicKeyOf: keys.publicKeyOf,
    isWeakPublicKey: (publicKey) =>
      publicKey.length === PUBLIC_KEY_SIZE && !keys.isPoint(publicKey),
    sign: (privateKey, message, random) =>
      keys.withPrivateKey(privateKey, (scalar) => signatures.sign(scalar, message, random)),
    verify,
    // Tables of keys are made one by one: what they share would save a twentieth.
    verifyAll: (checks) =>
      checks.map(({ publicKey, message, signature }) => verify(publicKey, message, signature)),
    agree: keys.agree,
    seal,
    open,
    sealPiece,
    openPiece,
    wrapKey(privateKey, publicKey, contentKey, random) {
      const material = random.bytes(MATERIAL_SIZE);
      const wrapped = seal(keys.agree(privateKey, publicKey, material), contentKey, random);
      return concat(material, wrapped);
    },
    unwrapKey(privateKey, publicKey, wrapped) {
      try {
        const material = wrapped.subarray(0, MATERIAL_SIZE);
        const key = keys.agree(privateKey, publicKey, material);
        const contentKey = open(key, wrapped.subarray(MATERIAL_SIZE));
        return contentKey?.length === KEY_SIZE ? contentKey : undefined;
      } catch (error) {
        if (error instanceof CryptoError) return undefined;
        throw error;
      }
    },
  };
}
