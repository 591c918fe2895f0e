/** What codecs ask about the network: its letter, its key size, its addresses and its hash. */
import type { Chain } from '../codec/codec.ts';
import { createAddresses } from './address.ts';
import type { CryptoFamily } from './family.ts';

/** The default of `native-ticker`. */
export const NATIVE_TOKEN = 'WEST';

/** `chainId` is the ASCII code of `address-scheme-character`. */
export function createChain(
  family: CryptoFamily,
  chainId: number,
  nativeToken = NATIVE_TOKEN,
): Chain {
  const addresses = createAddresses(family, chainId);
  return {
    chainId,
    publicKeySize: family.publicKeySize,
    nativeToken,
    addressOf: addresses.ofPublicKey,
    addressToText: addresses.toText,
    addressFromText: addresses.fromText,
    addressProblem: addresses.problem,
    fastHash: family.fastHash,
  };
}
