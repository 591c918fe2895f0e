/** The genesis block of a configuration, and its findings. */
import type { Block } from '../block/block.ts';
import { buildGenesis, verifyGenesis } from '../block/genesis.ts';
import {
  type GenesisFindings,
  genesisSeal,
  genesisSettings,
  issuedAtGenesis,
  validateGenesis,
} from '../node/config/genesis-section.ts';
import type { Config } from '../node/config/settings.ts';
import { cryptographyOfConfig } from './cryptography.ts';
import { CliError } from './terminal/exit.ts';

/** The findings on the rules of the genesis section, and on its signature if there is one. */
export function genesisFindings(config: Config): GenesisFindings {
  const { scheme } = cryptographyOfConfig(config);
  const { genesis } = config.blockchain.custom;
  const findings = validateGenesis(genesis, scheme);
  if (findings.errors.length > 0) return findings;
  try {
    if (genesisSeal(genesis) === undefined) {
      const warning = 'the genesis block is not signed yet: platform-node genesis sign <file>';
      return { errors: [], warnings: [...findings.warnings, warning] };
    }
    genesisBlock(config);
    return findings;
  } catch (cause) {
    return { ...findings, errors: [cause instanceof Error ? cause.message : String(cause)] };
  }
}

/**
 * The genesis block of a signed configuration, with verified signature. Throws ApiError, and CliError
 * where something is missing or `initial-balance` is another one.
 */
export function genesisBlock(config: Config): Block {
  const { family, scheme } = cryptographyOfConfig(config);
  const seal = genesisSeal(config.blockchain.custom.genesis);
  if (seal === undefined) {
    throw new CliError('The genesis block is not signed: platform-node genesis sign <file>');
  }
  const block = buildGenesis(genesisSettings(config, seal.timestamp, scheme), seal, scheme);
  verifyGenesis(block, ({ publicKey, message, signature }) =>
    family.verify(publicKey, message, signature),
  );
  requireInitialBalance(config);
  return block;
}

/** Nodes of other makes take it into the delays of proof of stake; here the amounts themselves do. */
function requireInitialBalance({ blockchain }: Config): void {
  const { genesis } = blockchain.custom;
  const sum = issuedAtGenesis(genesis);
  if (blockchain.consensus.type !== 'pos' || genesis.initialBalance === sum) return;
  throw new CliError(
    `blockchain.custom.genesis.initial-balance is ${genesis.initialBalance ?? 'absent'}, and the ` +
      `signed amounts of genesis.transactions are ${sum} together: write initial-balance = "${sum}"`,
  );
}
