/** BLAKE2b with a digest parameter of 32 bytes, without key. */
import sodium from 'sodium-native';

const DIGEST_SIZE = 32;

export function blake2b256(message: Uint8Array): Uint8Array {
  const digest = new Uint8Array(DIGEST_SIZE);
  sodium.crypto_generichash(digest, message);
  return digest;
}
