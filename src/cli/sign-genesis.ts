/** Signs the genesis block of a configuration with a key that is then deleted (blocks.md#signing). */
import { systemRandom } from '../adapters/system.ts';
import { base58 } from '../base/base58.ts';
import { signGenesis } from '../block/genesis.ts';
import type { SignedGenesis } from '../node/config/edit-genesis.ts';
import { genesisSettings, joinErrors, validateGenesis } from '../node/config/genesis-section.ts';
import type { Config } from '../node/config/settings.ts';
import {
  featureName,
  newNetworkFeatures,
  newNetworkFeaturesText,
  presetFeatures,
} from '../tx/rules/features.ts';
import { type Cryptography, cryptographyOfConfig } from './cryptography.ts';
import { CliError } from './terminal/exit.ts';
import { warn } from './terminal/output.ts';

/** What `genesis sign` writes into the file. Rejects with CliError where the section is wrong. */
export async function signedGenesis(config: Config): Promise<SignedGenesis> {
  const { family, scheme } = checkedCryptography(config);
  warnOfMissingFeatures(config);
  const timestamp = await networkTime(config.ntp);
  const key = family.generateKeyPair(systemRandom);
  const block = signGenesis(
    genesisSettings(config, timestamp, scheme),
    {
      publicKey: key.publicKey,
      sign: (message) => family.sign(key.privateKey, message, systemRandom),
    },
    scheme,
  );
  key.privateKey.fill(0);
  return {
    signature: base58.encode(block.header.signature),
    publicKey: base58.encode(key.publicKey),
    timestamp,
  };
}

/** The cryptography of a configuration whose genesis section is right. Throws CliError. */
export function checkedCryptography(config: Config): Cryptography {
  const cryptography = cryptographyOfConfig(config);
  const findings = validateGenesis(config.blockchain.custom.genesis, cryptography.scheme);
  findings.warnings.forEach(warn);
  if (findings.errors.length > 0) throw new CliError(joinErrors(findings.errors));
  return cryptography;
}

const PATIENCE_MS = 3000;

/** Network time, or the clock of this machine where there are no servers or none is of use. */
async function networkTime({
  servers,
  requestTimeout,
  maxStep,
  maxDeviation,
}: Config['ntp']): Promise<number> {
  if (servers.length === 0) return Date.now();
  const { askOnce } = await import('./time-servers.ts');
  const limits = { maxStepMs: maxStep.ms, maxDeviationMs: maxDeviation.ms };
  const { now, trouble } = await askOnce(servers, Math.min(requestTimeout.ms, PATIENCE_MS), limits);
  if (trouble !== undefined) warn(`${trouble}: the clock of this machine is used`);
  return now;
}

/** Only the founder of a network can have a feature without a vote. */
function warnOfMissingFeatures({ blockchain }: Config): void {
  const { preActivatedFeatures } = blockchain.custom.functionality;
  const isPoa = blockchain.consensus.type === 'poa';
  const missing = newNetworkFeatures(isPoa).filter(
    (id) => !presetFeatures.includes(id) && !preActivatedFeatures.has(id),
  );
  if (missing.length === 0) return;
  const names = missing.map((id) => `${id} (${featureName(id)})`).join(', ');
  warn(
    `the network is founded without ${names}, which its nodes would have to vote in; ` +
      `new networks set blockchain.custom.functionality.pre-activated-features = { ${newNetworkFeaturesText(isPoa)} }`,
  );
}
