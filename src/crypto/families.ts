/** The choice of the family by the setting `platform-crypto`, or by name in another thread. */
import { createCurve25519 } from './curve25519/curve25519-family.ts';
import type { CryptoFamily, FamilyName } from './family.ts';

export interface FamilyOptions {
  /** The number of public keys that `verify` caches in converted form. */
  readonly cachedKeys?: number;
}

/** Only the name of the national family is known: this release does not implement it. */
const families: Readonly<
  Record<FamilyName, ((options: FamilyOptions) => CryptoFamily) | undefined>
> = { curve25519: createCurve25519, gost: undefined };

export const availableFamilies = (Object.keys(families) as FamilyName[]).filter(
  (name) => families[name] !== undefined,
);

/** Throws for a family that this release does not implement. */
export function createFamily(name: FamilyName, options: FamilyOptions = {}): CryptoFamily {
  const create = families[name];
  if (create === undefined) throw new Error(`the ${name} family is not available`);
  return create(options);
}

/** The family that the setting selects. Throws as `createFamily` does. */
export const configuredFamily = (platformCrypto: boolean): CryptoFamily =>
  createFamily(platformCrypto ? 'curve25519' : 'gost');
