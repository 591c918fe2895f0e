import type { Envelope } from '../../src/crypto/envelope.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';

/** The plain bytes, or undefined unless everything authenticates. */
export function decrypt(
  family: CryptoFamily,
  privateKey: Uint8Array,
  senderPublicKey: Uint8Array,
  { wrappedKey, sealed }: Envelope,
): Uint8Array | undefined {
  const contentKey = family.unwrapKey(privateKey, senderPublicKey, wrappedKey);
  return contentKey && family.open(contentKey, sealed);
}
