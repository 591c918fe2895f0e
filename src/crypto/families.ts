/** The choice of the family by the setting `platform-crypto`, or by name in another thread. */
import { createCurve25519 } from './curve25519/curve25519-family.ts';
import type { CryptoFamily, FamilyName } from './family.ts';
import { createGost } from './gost/gost-family.ts';

export interface FamilyOptions {
  /** The number of public keys that `verify` caches in converted form. */
  readonly cachedKeys?: number;
}

const families: Readonly<Record<FamilyName, (options: FamilyOptions) => CryptoFamily>> = {
  curve25519: createCurve25519,
  gost: createGost,
};

export const familyNames = Object.keys(families) as readonly FamilyName[];

export const createFamily = (name: FamilyName, options: FamilyOptions = {}): CryptoFamily =>
  families[name](options);

/** The family that the setting selects. */
export const configuredFamily = (platformCrypto: boolean): CryptoFamily =>
  createFamily(platformCrypto ? 'curve25519' : 'gost');
