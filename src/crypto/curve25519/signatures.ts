/**
 * Signatures with Curve25519 keys, similar to XEdDSA (accounts.md#signatures).
 *
 * A signature is R(32) ‖ S(32); bit 7 of its last byte is the sign of the Edwards key. The verdict
 * is libsodium's: S < L, no point of small order, no non-canonical key, no cofactor.
 */
import { concat } from '../../base/bytes.ts';
import type { Random } from '../../base/ports/random.ts';
import { sodium } from '../sodium.ts';
import type { EdwardsKeys } from './edwards-keys.ts';
import { edwardsOf, fromInteger, toInteger } from './field.ts';
import { sha512 } from './hashes.ts';
import { clamp, isWeakPublicKey, KEY_SIZE } from './keys.ts';

export const SIGNATURE_SIZE = 64;

const LAST = SIGNATURE_SIZE - 1;
const SIGN_BIT = 0x80;
/** Bits of the last byte that are 0 in every S below L. */
const EXCESS_BITS = 0x60;

const scratchKey = new Uint8Array(KEY_SIZE);
const scratchSignature = new Uint8Array(SIGNATURE_SIZE);

/** False for anything malformed. `known` saves the conversion of keys seen before. */
export function verify(
  known: EdwardsKeys,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== KEY_SIZE || signature.length !== SIGNATURE_SIZE) return false;
  const last = signature[LAST]!;
  if ((last & EXCESS_BITS) !== 0 || isWeakPublicKey(publicKey)) return false;
  if (!known.copy(publicKey, scratchKey)) {
    const [y] = edwardsOf([publicKey]);
    known.add(publicKey, y!);
    scratchKey.set(y!);
  }
  scratchKey[KEY_SIZE - 1]! |= last & SIGN_BIT;
  scratchSignature.set(signature);
  scratchSignature[LAST] = last & ~SIGN_BIT;
  return sodium.crypto_sign_verify_detached(scratchSignature, message, scratchKey);
}

/** Converts all keys that are not yet cached, with one inversion. */
export function prepare(known: EdwardsKeys, publicKeys: readonly Uint8Array[]): void {
  const fresh = publicKeys.filter((key) => key.length === KEY_SIZE && !known.has(key));
  if (fresh.length === 0) return;
  const ys = edwardsOf(fresh);
  for (const [i, key] of fresh.entries()) if (!known.has(key)) known.add(key, ys[i]!);
}

/** Order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
/** Separates this use of SHA-512 from those of the signature itself. */
const NONCE_PREFIX = new Uint8Array(32).fill(0xff);
NONCE_PREFIX[0] = 0xfe;
const NONCE_RANDOM_SIZE = 64;

/** Throws CryptoError for a private key of the wrong size. */
export function sign(privateKey: Uint8Array, message: Uint8Array, random: Random): Uint8Array {
  const scalar = clamp(privateKey);
  const publicPoint = timesBase(scalar);
  const noise = random.bytes(NONCE_RANDOM_SIZE);
  const nonce = modL(sha512(NONCE_PREFIX, scalar, message, noise));
  const noncePoint = timesBase(nonce);
  const challenge = toInteger(modL(sha512(noncePoint, publicPoint, message)));
  const s = (toInteger(nonce) + challenge * toInteger(scalar)) % L;
  const signature = concat(noncePoint, fromInteger(s));
  signature[LAST]! |= publicPoint[KEY_SIZE - 1]! & SIGN_BIT;
  return signature;
}

function timesBase(scalar: Uint8Array): Uint8Array {
  const point = new Uint8Array(KEY_SIZE);
  sodium.crypto_scalarmult_ed25519_base_noclamp(point, scalar);
  return point;
}

function modL(wide: Uint8Array): Uint8Array {
  const reduced = new Uint8Array(KEY_SIZE);
  sodium.crypto_core_ed25519_scalar_reduce(reduced, wide);
  return reduced;
}
