/** Hashes of the international family (accounts.md). All digests are 32 bytes. */
import { createHash } from 'node:crypto';
import { blake2b256 } from '../blake2b.ts';
import { keccak256 } from '../keccak.ts';

export const DIGEST_SIZE = 32;

export const fastHash = blake2b256;

/** Keccak-256 over the fast hash. */
export function secureHash(message: Uint8Array): Uint8Array {
  return keccak256(fastHash(message));
}

/** 64 bytes. */
export function sha512(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

export function md5(message: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('md5').update(message).digest());
}
