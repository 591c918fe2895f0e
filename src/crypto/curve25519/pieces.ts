/** Pieces of a stream in the international family: AES-256-GCM (privacy.md#exchange-between-nodes). */
import { createCipheriv, createDecipheriv } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const TAG_SIZE = 16;

export function sealPiece(
  key: Uint8Array,
  nonce: Uint8Array,
  plain: Uint8Array,
  associated: Uint8Array,
): Uint8Array {
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associated);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export function openPiece(
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
  associated: Uint8Array,
): Uint8Array | undefined {
  const end = sealed.length - TAG_SIZE;
  if (end < 0) return undefined;
  const decipher = createDecipheriv(CIPHER, key, nonce).setAAD(associated);
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
}
