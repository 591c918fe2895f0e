/** The key of a seed phrase in a file, for commands that use no node. */
import type { CryptoFamily, KeyPair } from '../../../crypto/family.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { readAll } from '../../terminal/lines.ts';

/** `input` is the other input of the command: both cannot come from stdin. */
export async function keyOfSeedFile(
  seedFile: string,
  input: string,
  family: CryptoFamily,
): Promise<KeyPair> {
  if (seedFile === '-' && input === '-') {
    throw new CliError('Seed phrase and input cannot both come from stdin', EXIT.usage);
  }
  const phrase = (await readAll(seedFile)).replace(/\r?\n$/, '');
  if (phrase === '') throw new CliError('The seed phrase is empty');
  return family.keyPairFromPhrase(phrase);
}
