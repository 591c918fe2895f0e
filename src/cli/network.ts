/** Cryptography, chain codec and genesis of a configuration, for the commands that need them. */
import type { Block } from '../block/block.ts';
import { buildGenesis, verifyGenesis } from '../block/genesis.ts';
import type { Chain } from '../codec/codec.ts';
import { createChain } from '../crypto/chain.ts';
import { createFamily } from '../crypto/families.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import {
  type GenesisFindings,
  genesisSeal,
  genesisSettings,
  validateGenesis,
} from '../node/config/genesis.ts';
import type { Config } from '../node/config/settings.ts';
import { CliError } from './exit.ts';

export interface Network {
  readonly family: CryptoFamily;
  readonly chain: Chain;
}

/** `chainId` is the one letter of the network. */
export function networkOf(platformCrypto: boolean, chainId: string): Network {
  if (!/^[\x21-\x7e]$/.test(chainId)) {
    throw new CliError(`The chain id '${chainId}' must be one ASCII character`);
  }
  const family = createFamily(platformCrypto ? 'curve25519' : 'gost');
  return { family, chain: createChain(family, chainId.charCodeAt(0)) };
}

export const networkOfConfig = (config: Config): Network =>
  networkOf(config.platformCrypto, config.blockchain.custom.addressSchemeCharacter);

/** The rules of the genesis section, and its signature if there is one. */
export function genesisFindings(config: Config): GenesisFindings {
  const { chain } = networkOfConfig(config);
  const { genesis } = config.blockchain.custom;
  const findings = validateGenesis(genesis, chain);
  if (findings.errors.length > 0) return findings;
  if (genesisSeal(genesis) === undefined) {
    const warning = 'the genesis block is not signed yet: platform-node genesis sign <file>';
    return { errors: [], warnings: [...findings.warnings, warning] };
  }
  try {
    genesisBlock(config);
    return findings;
  } catch (cause) {
    return { ...findings, errors: [cause instanceof Error ? cause.message : String(cause)] };
  }
}

/** The genesis block of a signed configuration, its signature verified. Throws ApiError. */
export function genesisBlock(config: Config): Block {
  const { family, chain } = networkOfConfig(config);
  const seal = genesisSeal(config.blockchain.custom.genesis);
  if (seal === undefined) {
    throw new CliError('The genesis block is not signed: platform-node genesis sign <file>');
  }
  const block = buildGenesis(genesisSettings(config, seal.timestamp, chain), seal, chain);
  verifyGenesis(block, ({ publicKey, message, signature }) =>
    family.verify(publicKey, message, signature),
  );
  return block;
}
