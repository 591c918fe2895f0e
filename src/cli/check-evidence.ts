/** The check of two votes that contradict each other, without a chain (finality.md#contradictions). */
import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { headerHash } from '../block/header.ts';
import { CodecError } from '../codec/codec.ts';
import { isEvidence } from '../finality/evidence.ts';
import { evidenceFromJson } from '../finality/evidence-json.ts';
import type { SignedVote } from '../finality/vote.ts';
import type { Config } from '../node/config/settings.ts';
import { cryptographyOfConfig } from './cryptography.ts';
import { genesisBlock } from './genesis-block.ts';
import { parseJson } from './terminal/documents.ts';
import { CliError } from './terminal/exit.ts';

/** Who lied, and how. Throws CliError where nobody is shown to. */
export function checkEvidence(config: Config, text: string) {
  const { scheme } = cryptographyOfConfig(config);
  const pair = readPair(text, scheme);
  const [first, second] = pair;
  const genesis = headerHash(genesisBlock(config).header, scheme);
  if (!equal(first.genesis, genesis)) throw new CliError('The votes are of another network');
  if (!isEvidence(pair, scheme)) {
    throw new CliError(
      'The votes are no evidence: they are of two keys, contradict nothing, or have a wrong signature',
    );
  }
  return {
    isEvidence: true,
    address: scheme.addressToText(scheme.addressOf(first.voter)),
    publicKey: base58.encode(first.voter),
    kind: first.target.height === second.target.height ? 'two-blocks-at-one-height' : 'surround',
    first: shown(first),
    second: shown(second),
  };
}

function readPair(text: string, scheme: Parameters<typeof evidenceFromJson>[1]) {
  try {
    return evidenceFromJson(parseJson(text), scheme);
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause;
    throw new CliError(`The file has no two votes: ${cause.message}`);
  }
}

const shown = ({ source, target }: SignedVote) => ({
  sourceHeight: source.height,
  sourceHash: base58.encode(source.id),
  targetHeight: target.height,
  targetHash: base58.encode(target.id),
});
