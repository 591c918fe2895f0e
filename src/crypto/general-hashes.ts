/** Hashes that scripts call by name. They are the same in every family of cryptography. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { blake2b256 } from './blake2b.ts';
import { sha256 } from './sha256.ts';

export const generalHashes = {
  keccak256: (message: Uint8Array): Uint8Array => keccak_256(message),
  blake2b256,
  sha256,
};
