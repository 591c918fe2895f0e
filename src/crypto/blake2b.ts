/** BLAKE2b with a digest parameter of 32 bytes, without key. */
import { sodium } from './sodium.ts';

const DIGEST_SIZE = 32;

/**
 * Native code takes the memory of an array, and so moves a small array out of the heap: an
 * allocation that costs more than the hash. Each digest is therefore copied from one place.
 */
const place = new Uint8Array(new ArrayBuffer(DIGEST_SIZE));

export function blake2b256(message: Uint8Array): Uint8Array {
  sodium.crypto_generichash(place, message);
  const digest = new Uint8Array(DIGEST_SIZE);
  digest.set(place);
  return digest;
}
