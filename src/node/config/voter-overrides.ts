/** The overrides of voters in the form of ChainRules (finality.md#overrides). */
import { Base58Error, base58 } from '../../base/base58.ts';
import { StartError } from '../../base/faults/start-error.ts';
import { DIGEST_BYTES } from '../../base/sizes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { VOTERS_MAX } from '../../finality/votes/vote.ts';
import type { VoterOverride } from '../../tx/rules/chain-rules.ts';
import type { Config } from './settings.ts';

/** Throws StartError. */
export function voterOverrides(
  { finality: { overrides } }: Pick<Config, 'finality'>,
  { publicKeySize }: Pick<ChainScheme, 'publicKeySize'>,
): readonly VoterOverride[] {
  const heights = new Set(overrides.map(({ height }) => height));
  if (heights.size < overrides.length) throw wrong('two entries have one height', 'keep one');
  return overrides.map(({ height, header, voters }) => {
    if (voters.length === 0 || voters.length > VOTERS_MAX || new Set(voters).size < voters.length) {
      throw wrong(`height ${height} needs 1 to ${VOTERS_MAX} voters, each once`, 'name them');
    }
    return {
      block: { height, id: bytesOf(header, DIGEST_BYTES, 'header hash') },
      voters: voters.map((key) => bytesOf(key, publicKeySize, 'public key')),
    };
  });
}

function bytesOf(text: string, size: number, what: string): Uint8Array {
  try {
    const bytes = base58.decode(text);
    if (bytes.length === size) return bytes;
  } catch (cause) {
    if (!(cause instanceof Base58Error)) throw cause;
  }
  throw wrong(`'${text}' is no ${what}`, `write ${size} bytes as Base58`);
}

const wrong = (why: string, remedy: string): StartError =>
  new StartError('finality.overrides', 'finality', why, remedy);
