/**
 * Symmetric encryption of the international family, between accounts
 * (accounts.md#encryption-between-accounts) and for pieces of a stream
 * (privacy.md#exchange-between-nodes).
 *
 * Between accounts it is AES-128-GCM under MD5(key) with a nonce of 16 bytes. Both choices are
 * outdated, but the clients of the network use them.
 */
import { createCipheriv, createDecipheriv, type DecipherGCM } from 'node:crypto';
import type { Random } from '../../base/ports/random.ts';
import { md5 } from './hashes.ts';

const CIPHER = 'aes-128-gcm';
const PIECE_CIPHER = 'aes-256-gcm';
const NONCE_SIZE = 16;
const TAG_SIZE = 16;

/** Nonce ‖ ciphertext ‖ tag: 32 bytes longer than `plain`. `key` may have any size. */
export function seal(key: Uint8Array, plain: Uint8Array, random: Random): Uint8Array {
  const sealed = new Uint8Array(NONCE_SIZE + plain.length + TAG_SIZE);
  const nonce = random.bytes(NONCE_SIZE);
  const cipher = createCipheriv(CIPHER, md5(key), nonce, { authTagLength: TAG_SIZE });
  sealed.set(nonce);
  sealed.set(cipher.update(plain), NONCE_SIZE);
  cipher.final();
  sealed.set(cipher.getAuthTag(), NONCE_SIZE + plain.length);
  return sealed;
}

/** The plain bytes, or undefined when the input is too short or does not authenticate. */
export function open(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < NONCE_SIZE + TAG_SIZE) return undefined;
  const nonce = sealed.subarray(0, NONCE_SIZE);
  const decipher = createDecipheriv(CIPHER, md5(key), nonce, { authTagLength: TAG_SIZE });
  const plain = opened(decipher, sealed.subarray(NONCE_SIZE));
  return plain && new Uint8Array(plain);
}

export function sealPiece(
  key: Uint8Array,
  nonce: Uint8Array,
  plain: Uint8Array,
  associated: Uint8Array,
): Uint8Array {
  const cipher = createCipheriv(PIECE_CIPHER, key, nonce).setAAD(associated);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export function openPiece(
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
  associated: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length < TAG_SIZE) return undefined;
  return opened(createDecipheriv(PIECE_CIPHER, key, nonce).setAAD(associated), sealed);
}

/** `sealed`: ciphertext ‖ tag. */
function opened(decipher: DecipherGCM, sealed: Uint8Array): Uint8Array | undefined {
  const end = sealed.length - TAG_SIZE;
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
}
