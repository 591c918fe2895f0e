/** The check of a proof that a block is final, without a chain (finality.md#proofs). */
import { base58 } from '../base/base58.ts';
import { headerHash } from '../block/header.ts';
import { trustedGenesis } from '../chain/finality/genesis-voters.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { type TrustedCheckpoint, verifyOffline } from '../finality/proofs/offline-proof.ts';
import { proofFromJson } from '../finality/proofs/offline-proof-json.ts';
import { decidingOn } from '../finality/votes/voter-set.ts';
import type { Config } from '../node/config/settings.ts';
import { feature } from '../tx/rules/features.ts';
import { cryptographyOfConfig } from './cryptography.ts';
import { genesisBlock } from './genesis-block.ts';
import { parseJson } from './terminal/documents.ts';
import { CliError } from './terminal/exit.ts';

/** What is proved. `id`: the block that it has to be. Throws CliError. */
export function checkProof(config: Config, text: string, id: string | undefined) {
  const { scheme } = cryptographyOfConfig(config);
  const trusted = trustedOf(config, scheme);
  const proof = readProof(text, scheme);
  const verdict = verifyOffline(proof, trusted, scheme);
  if (!verdict.isProved) throw new CliError(`The proof is wrong: ${verdict.why}`);
  const { block, final } = verdict;
  const signature = base58.encode(block.header.signature);
  if (id !== undefined && id !== signature) {
    throw new CliError(`The proof is of another block: ${signature}`);
  }
  const { sets } = proof.steps.at(-1)!;
  return {
    isFinal: true,
    height: block.height,
    id: signature,
    timestamp: block.header.timestamp,
    finalHeight: final.height,
    checkpoint: {
      height: final.height,
      ruleHash: base58.encode(decidingOn(sets, scheme).ruleHash),
    },
  };
}

function readProof(text: string, scheme: ChainScheme) {
  try {
    return proofFromJson(parseJson(text), scheme);
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    throw new CliError(`The file is no proof: ${cause.message}`);
  }
}

function trustedOf(config: Config, scheme: ChainScheme): TrustedCheckpoint {
  const { checkpointHeight: height, checkpointRuleHash: hash } = config.finality;
  const block = genesisBlock(config);
  if (height !== undefined && hash !== undefined) {
    return { genesis: headerHash(block.header, scheme), height, ruleHash: base58.decode(hash) };
  }
  const { preActivatedFeatures, featureCheckBlocksPeriod } = config.blockchain.custom.functionality;
  const given = preActivatedFeatures.get(feature.finality);
  const isRoot = given !== undefined && given - featureCheckBlocksPeriod <= 1;
  const trusted = isRoot ? trustedGenesis(block, scheme) : undefined;
  if (trusted !== undefined) return trusted;
  throw new CliError(
    'The genesis block of this network does not say who votes: set finality.checkpoint-height and ' +
      'finality.checkpoint-rule-hash',
  );
}
