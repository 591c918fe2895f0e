/** The check of two votes that contradict each other, without a chain (finality.md#contradictions). */
import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { headerHash } from '../block/header.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { isEvidence } from '../finality/votes/evidence.ts';
import { evidenceFromJson } from '../finality/votes/evidence-json.ts';
import type { SignedVote } from '../finality/votes/vote.ts';
import type { Config } from '../node/config/settings.ts';
import { cryptographyOfConfig } from './cryptography.ts';
import { genesisBlock } from './genesis-block.ts';
import { parseJson } from './terminal/documents.ts';
import { CliError } from './terminal/exit.ts';

/** Who lied, and how: of a pair, or of each of a list. Throws CliError where one shows no lie. */
export function checkEvidence(config: Config, text: string) {
  const { scheme } = cryptographyOfConfig(config);
  const genesis = headerHash(genesisBlock(config).header, scheme);
  const json = parseJson(text);
  if (!Array.isArray(json)) return checkPair(json, genesis, scheme);
  if (json.length === 0) throw new CliError('The list has no votes');
  return json.map((one: unknown, at) => {
    try {
      return checkPair(one, genesis, scheme);
    } catch (cause) {
      throw cause instanceof CliError ? new CliError(`Pair ${at + 1}: ${cause.message}`) : cause;
    }
  });
}

function checkPair(json: unknown, genesis: Uint8Array, scheme: ChainScheme) {
  const pair = readPair(json, scheme);
  const [first, second] = pair;
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

function readPair(json: unknown, scheme: ChainScheme) {
  try {
    return evidenceFromJson(json, scheme);
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
