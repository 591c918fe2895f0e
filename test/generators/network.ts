/** The network of the test vectors and some of its accounts. */
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { family } from '../family.ts';
import { Rng } from './random.ts';

export { family };
/** Network T. */
export const scheme = createChainScheme(family, 84);

const rng = new Rng(1);
/** Keys that need not belong to anybody. */
export const publicKeys: readonly Uint8Array[] = Array.from({ length: 50 }, () =>
  rng.bytes(family.publicKeySize),
);
export const addresses: readonly Uint8Array[] = publicKeys.map((key) => scheme.addressOf(key));
