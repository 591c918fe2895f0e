/** The cryptography and the scheme of a chain, for the commands that need them. */
import type { ChainScheme } from '../codec/codec.ts';
import { createChainScheme } from '../crypto/chain-scheme.ts';
import { configuredFamily } from '../crypto/families.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Config } from '../node/config/settings.ts';
import { CliError, EXIT } from './terminal/exit.ts';

export interface Cryptography {
  readonly family: CryptoFamily;
  readonly scheme: ChainScheme;
}

/** `chainId` is the single letter of the network. */
export function cryptographyOf(
  platformCrypto: boolean,
  chainId: string,
  nativeToken?: string,
): Cryptography {
  if (!/^[\x21-\x7e]$/.test(chainId)) {
    throw new CliError(`The chain id '${chainId}' must be one ASCII character`, EXIT.usage);
  }
  const family = configuredFamily(platformCrypto);
  return { family, scheme: createChainScheme(family, chainId.charCodeAt(0), nativeToken) };
}

export const cryptographyOfConfig = (config: Config): Cryptography =>
  cryptographyOf(
    config.platformCrypto,
    config.blockchain.custom.addressSchemeCharacter,
    config.nativeTicker,
  );
