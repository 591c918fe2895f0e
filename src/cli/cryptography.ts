/** Cryptography and chain codec of a network, for the commands that need them. */
import type { Chain } from '../codec/codec.ts';
import { createChain } from '../crypto/chain.ts';
import { createFamily } from '../crypto/families.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Config } from '../node/config/settings.ts';
import { CliError } from './exit.ts';

export interface Cryptography {
  readonly family: CryptoFamily;
  readonly chain: Chain;
}

/** `chainId` is the one letter of the network. */
export function cryptographyOf(
  platformCrypto: boolean,
  chainId: string,
  nativeToken?: string,
): Cryptography {
  if (!/^[\x21-\x7e]$/.test(chainId)) {
    throw new CliError(`The chain id '${chainId}' must be one ASCII character`);
  }
  const family = createFamily(platformCrypto ? 'curve25519' : 'gost');
  return { family, chain: createChain(family, chainId.charCodeAt(0), nativeToken) };
}

export const cryptographyOfConfig = (config: Config): Cryptography =>
  cryptographyOf(
    config.platformCrypto,
    config.blockchain.custom.addressSchemeCharacter,
    config.nativeTicker,
  );
