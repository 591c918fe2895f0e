/** `platform-node tx sign --seed-file`: signs with a seed phrase, without a node. */
import { systemRandom } from '../../../adapters/system.ts';
import { apiError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { txToJson, unsignedFromJson } from '../../../tx/json/encode.ts';
import { cryptographyOf } from '../../cryptography.ts';
import { convertAll, jsonDocuments } from '../../terminal/documents.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { keyOfSeedFile } from '../keystore/seed-phrase.ts';

export interface SeedFlags {
  seedFile: string;
  chainId?: string;
  nationalCrypto?: true;
  ndjson?: true;
}

export async function signWithSeed(source: string, flags: SeedFlags): Promise<void> {
  if (flags.chainId === undefined) {
    throw new CliError('--seed-file needs --chain-id, since no node is asked', EXIT.usage);
  }
  const { family, scheme } = cryptographyOf(flags.nationalCrypto !== true, flags.chainId);
  const { privateKey, publicKey } = await keyOfSeedFile(flags.seedFile, source, family);
  const sender = scheme.addressToText(scheme.addressOf(publicKey));

  await convertAll(jsonDocuments(source, flags.ndjson === true), (json) => {
    if (!isObject(json)) throw apiError('MalformedJson');
    const draft = unsignedFromJson({ sender, ...json }, scheme, {
      publicKeyOf: (address) => (scheme.addressToText(address) === sender ? publicKey : undefined),
      timestamp: Date.now(),
      feeOf() {
        throw apiError('Invalid', "'fee' is missing: no node is asked for it");
      },
    });
    const proof = family.sign(privateKey, draft.message, systemRandom);
    return txToJson(draft.assemble([proof]), scheme);
  });
  privateKey.fill(0);
}
