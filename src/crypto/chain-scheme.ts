/** Makes the scheme of a chain from a cryptography family and a chain id. */
import type { ChainScheme } from '../codec/codec.ts';
import { createAddresses } from './address.ts';
import type { CryptoFamily } from './family.ts';

/** The default of `native-ticker`. */
export const NATIVE_TOKEN = 'WEST';

/** `chainId` is the ASCII code of `address-scheme-character`. */
export function createChainScheme(
  family: CryptoFamily,
  chainId: number,
  nativeToken = NATIVE_TOKEN,
): ChainScheme {
  const addresses = createAddresses(family, chainId);
  return {
    chainId,
    publicKeySize: family.publicKeySize,
    nativeToken,
    addressOf: addresses.ofPublicKey,
    addressToText: addresses.toText,
    accountTexts: addresses.textsOf,
    addressFromText: addresses.fromText,
    addressProblem: addresses.problem,
    fastHash: family.fastHash,
    secureHash: family.secureHash,
    verify: family.verify,
    charges: family.charges,
  };
}
