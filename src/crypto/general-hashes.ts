/** Hashes that scripts call by name. They are the same in every family of cryptography. */
import { blake2b256 } from './blake2b.ts';
import { keccak256 } from './keccak.ts';
import { sha256 } from './sha256.ts';

export const generalHashes = { keccak256, blake2b256, sha256 };
