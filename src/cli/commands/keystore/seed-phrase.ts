/** The key of a seed phrase in a file, for commands that use no node. */
import type { CryptoFamily, KeyPair } from '../../../crypto/family.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { readLines } from '../../terminal/lines.ts';

/** `input` is the other input of the command: both cannot come from stdin. */
export async function keyOfSeedFile(
  seedFile: string,
  input: string,
  family: CryptoFamily,
): Promise<KeyPair> {
  if (seedFile === '-' && input === '-') {
    throw new CliError('Seed phrase and input cannot both come from stdin', EXIT.usage);
  }
  return family.keyPairFromPhrase(await seedPhrase(seedFile));
}

/**
 * The one line of a file that is not blank, as `keystore derive` reads it. Spaces in it count. Throws
 * CliError.
 */
export async function seedPhrase(seedFile: string): Promise<string> {
  const phrases: string[] = [];
  for await (const line of readLines(seedFile)) phrases.push(line);
  const [phrase] = phrases;
  if (phrase === undefined) throw new CliError('The seed phrase is empty');
  if (phrases.length === 1) return phrase;
  throw new CliError(
    `'${seedFile}' has ${phrases.length} lines: write one seed phrase, in one line, into it`,
  );
}
