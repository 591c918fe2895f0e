/**
 * Signatures with Curve25519 keys, similar to XEdDSA (accounts.md#signatures).
 *
 * A signature is R(32) ‖ S(32); bit 7 of its last byte is the sign of the Edwards key.
 */
import { concat } from '../../base/bytes.ts';
import type { Random } from '../../base/ports/random.ts';
import { sodium } from '../sodium.ts';
import { fromInteger, toInteger } from './field.ts';
import { sha512 } from './hashes.ts';
import { clamp, KEY_SIZE } from './keys.ts';

export const SIGNATURE_SIZE = 64;
/** Where the sign of the Edwards key is. */
export const LAST = SIGNATURE_SIZE - 1;
export const SIGN_BIT = 0x80;

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
