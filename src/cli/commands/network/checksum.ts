/** `platform-node network checksum`: what a member compares with all others before it starts. */

import { join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { genesisBlock } from '../../genesis-block.ts';
import { CliError } from '../../terminal/exit.ts';
import { printJson, say } from '../../terminal/output.ts';
import { checksumOf, configOfGenesis, readGenesis, signedConfigOf } from './genesis-file.ts';

/** `dir`: the folder of a member, or that of the founder with all of them. */
export async function checksum(dir: string): Promise<void> {
  const isMember = files.exists(join(dir, 'node.conf'));
  const { config } = isMember ? await signedConfigOf(dir) : await ofFounder(dir);
  const { signature, transactions } = config.blockchain.custom.genesis;
  const members = transactions.map(({ recipient }) => recipient);
  const own = isMember ? { owner: config.ownerAddress } : {};
  printJson({ checksum: checksumOf(config), signature, members, ...own });
  if (isMember && !members.includes(config.ownerAddress)) {
    say(
      `The key of this node, ${config.ownerAddress}, is not in the first block: it is registered later`,
    );
  }
}

async function ofFounder(dir: string) {
  const { path, text, missing, cryptography } = await readGenesis(dir);
  if (missing.length > 0) {
    throw new CliError(`${path} is a draft: platform-node network merge signs it`);
  }
  // The owner has no part in the first block.
  const nobody = new Uint8Array(cryptography.scheme.publicKeySize);
  const { scheme } = cryptography;
  const config = await configOfGenesis(text, scheme.addressToText(scheme.addressOf(nobody)));
  genesisBlock(config);
  return { config };
}
