/** Accounts of the national family: seed phrase → private key → public key (accounts.md). */
import { concat, utf8 } from '../../base/bytes.ts';
import type { Random } from '../../base/ports/random.ts';
import { CryptoError, type KeyPair } from '../family.ts';
import type { Group } from './group.ts';
import { type Limbs, NUMBER_BYTES } from './limbs.ts';
import type { Scalars } from './scalars.ts';
import type { Streebog } from './streebog.ts';
import type { Engine } from './wasm/engine.ts';
import { ELEMENT_BYTES } from './wasm/field.ts';
import { POINT_BYTES } from './wasm/points.ts';

export const PRIVATE_KEY_SIZE = NUMBER_BYTES;
export const PUBLIC_KEY_SIZE = 2 * NUMBER_BYTES;
/** The user keying material of VKO. */
export const MATERIAL_SIZE = 8;
/** The material of an agreement that needs none: the number 1. */
const NO_MATERIAL = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);

export interface Keys {
  accountSeed(phrase: string, nonce?: number): Uint8Array;
  keyPairFromSeed(seed: Uint8Array): KeyPair;
  generateKeyPair(random: Random): KeyPair;
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  isPoint(publicKey: Uint8Array): boolean;
  /** Calls `use` with the place of the number that the private key is. Throws CryptoError. */
  withPrivateKey<T>(privateKey: Uint8Array, use: (scalar: number) => T): T;
  /** VKO_GOSTR3410_2012_256 (RFC 7836). Throws CryptoError. */
  agree(privateKey: Uint8Array, publicKey: Uint8Array, material?: Uint8Array): Uint8Array;
}

export interface KeyParts {
  readonly engine: Engine;
  readonly limbs: Limbs;
  readonly scalars: Scalars;
  readonly group: Group;
  readonly streebog: Streebog;
}

export function createKeys({ engine, limbs, scalars, group, streebog }: KeyParts): Keys {
  const scalar = engine.reserve(ELEMENT_BYTES);
  const factor = engine.reserve(ELEMENT_BYTES);
  const point = engine.reserve(POINT_BYTES);
  const other = engine.reserve(POINT_BYTES);

  const withPrivateKey: Keys['withPrivateKey'] = (privateKey, use) => {
    if (privateKey.length !== PRIVATE_KEY_SIZE) {
      throw new CryptoError(`a private key has ${PRIVATE_KEY_SIZE} bytes`);
    }
    limbs.putLittleEndian(scalar, privateKey);
    scalars.reduce(scalar, scalar);
    if (limbs.isZero(scalar)) throw new CryptoError('a private key is not 0');
    try {
      return use(scalar);
    } finally {
      limbs.putInteger(scalar, 0n);
    }
  };

  const publicKeyOf = (privateKey: Uint8Array): Uint8Array =>
    withPrivateKey(privateKey, () => {
      group.multiplySecretly(point, group.base, scalar);
      return group.write(point);
    });

  function keyPairFromSeed(seed: Uint8Array): KeyPair {
    if (seed.length !== PRIVATE_KEY_SIZE) {
      throw new CryptoError(`an account seed has ${PRIVATE_KEY_SIZE} bytes`);
    }
    const privateKey = withPrivateKey(seed, () => limbs.takeLittleEndian(scalar));
    return { privateKey, publicKey: publicKeyOf(privateKey) };
  }

  return {
    accountSeed(phrase, nonce = 0) {
      const prefix = new Uint8Array(4);
      new DataView(prefix.buffer).setInt32(0, nonce);
      return streebog.hash256(concat(prefix, utf8(phrase)));
    },
    keyPairFromSeed,
    generateKeyPair: (random) => keyPairFromSeed(random.bytes(PRIVATE_KEY_SIZE)),
    publicKeyOf,
    isPoint: (publicKey) => publicKey.length === PUBLIC_KEY_SIZE && group.read(other, publicKey),
    withPrivateKey,

    agree(privateKey, publicKey, material = NO_MATERIAL) {
      if (publicKey.length !== PUBLIC_KEY_SIZE || !group.read(other, publicKey)) {
        throw new CryptoError('the public key is no point of the curve');
      }
      const wide = new Uint8Array(NUMBER_BYTES);
      wide.set(material);
      return withPrivateKey(privateKey, () => {
        limbs.putLittleEndian(factor, wide);
        scalars.multiply(factor, factor, scalar);
        if (limbs.isZero(factor)) throw new CryptoError('the keying material is 0');
        group.multiplySecretly(point, other, factor);
        limbs.putInteger(factor, 0n);
        const shared = group.write(point);
        group.setNeutral(point);
        return streebog.hash256(shared);
      });
    },
  };
}
