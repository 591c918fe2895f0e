/** Accounts: seed phrase → account seed → private key → public key (accounts.md). */
import { concat, equal, utf8 } from '../../base/bytes.ts';
import { decodeHex } from '../../base/hex.ts';
import type { Random } from '../../base/ports/random.ts';
import { CryptoError, type KeyPair } from '../family.ts';
import { sha256 } from '../sha256.ts';
import { sodium } from '../sodium.ts';
import { secureHash } from './hashes.ts';

export const KEY_SIZE = 32;

/** `nonce` is the account's number, a signed 32-bit integer in big-endian order. */
export function accountSeed(phrase: string, nonce = 0): Uint8Array {
  const prefix = new Uint8Array(4);
  new DataView(prefix.buffer).setInt32(0, nonce);
  return secureHash(concat(prefix, utf8(phrase)));
}

/** Any seed is valid, of any size. */
export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  const privateKey = clamp(sha256(seed));
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

export function keyPairFromPhrase(phrase: string, nonce = 0): KeyPair {
  return keyPairFromSeed(accountSeed(phrase, nonce));
}

export function generateKeyPair(random: Random): KeyPair {
  return keyPairFromSeed(random.bytes(KEY_SIZE));
}

/** Clamps first, so a private key in its raw form gives the same result. Throws CryptoError. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const publicKey = new Uint8Array(KEY_SIZE);
  sodium.crypto_scalarmult_base(publicKey, clamp(privateKey));
  return publicKey;
}

/** The raw X25519 secret, 32 bytes. Throws CryptoError for a weak key or a wrong size. */
export function agree(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  if (publicKey.length !== KEY_SIZE) throw new CryptoError('a public key has 32 bytes');
  if (isWeakPublicKey(publicKey)) throw new CryptoError('no secret can be shared with a weak key');
  const secret = new Uint8Array(KEY_SIZE);
  sodium.crypto_scalarmult(secret, clamp(privateKey), publicKey);
  return secret;
}

/** A copy with the bits of RFC 7748 fixed. Throws CryptoError for a wrong size. */
export function clamp(privateKey: Uint8Array): Uint8Array {
  if (privateKey.length !== KEY_SIZE) throw new CryptoError('a private key has 32 bytes');
  const clamped = privateKey.slice();
  clamped[0]! &= 248;
  clamped[31] = (clamped[31]! & 127) | 64;
  return clamped;
}

/** The points of small order on the curve and its twist, bit 255 clear. */
const weakKeys = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(decodeHex);
/** The first byte distinguishes nearly every key from all of them. */
const weakFirstBytes = new Set(weakKeys.map((key) => key[0]));

export function isWeakPublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== KEY_SIZE || !weakFirstBytes.has(publicKey[0])) return false;
  const bare = publicKey.slice();
  bare[31]! &= 0x7f;
  return weakKeys.some((weak) => equal(weak, bare));
}
