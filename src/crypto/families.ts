/** The choice of the family by the setting `platform-crypto`, or by name in another thread. */
import { createCurve25519 } from './curve25519/curve25519-family.ts';
import type { CryptoFamily, FamilyName } from './family.ts';

export interface FamilyOptions {
  /** How many public keys `verify` keeps in its converted form. */
  readonly cachedKeys?: number;
}

/** Throws for the national family, which this release does not have. */
export function createFamily(name: FamilyName, options: FamilyOptions = {}): CryptoFamily {
  if (name === 'curve25519') return createCurve25519(options);
  throw new Error(`the ${name} family is not available`);
}
