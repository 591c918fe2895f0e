/**
 * `platform-node crypto …`: encrypts texts for other accounts, with a running node or locally with
 * a seed phrase.
 */
import { type Command, Option } from 'commander';
import { nodeOptions } from '../node-options.ts';
import { FAILED_LINES } from '../offline-options.ts';

const PIPE = `
What encrypt prints is what decrypt reads, and convert in between.`;

export function register(crypto: Command): void {
  keyed(
    crypto
      .command('encrypt [file]')
      .description(
        'Encrypt a text for accounts; prints a line {"encryptedText", "publicKey", "wrappedKey", ' +
          '"senderPublicKey"} for each of them. Reads stdin without a file.',
      )
      .requiredOption(
        '--to <publicKeys>',
        'accounts that may read it, separated by commas',
        (text: string) => text.split(',').filter((part) => part !== ''),
      )
      .option('--separate', 'a separate ciphertext for each account')
      .option('--sender <address>', 'account of the node that encrypts'),
  )
    .addHelpText('after', PIPE)
    .action(async (file: string | undefined, flags) =>
      (await import('../crypto-calls.ts')).encrypt(file ?? '-', flags),
    );
  keyed(
    crypto
      .command('decrypt [file]')
      .description(
        'Decrypt {"encryptedText", "wrappedKey", "senderPublicKey"}, one a line; prints ' +
          '{"decryptedText"}. Reads stdin without a file.',
      )
      .option('--recipient <address>', 'account of the node that may read it'),
  )
    .addHelpText('after', PIPE + FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('../crypto-calls.ts')).decrypt(file ?? '-', flags),
    );
  crypto
    .command('convert [file]')
    .description(
      'Converts encrypted texts from Base58, which nodes before 1.0.2 use, to Base64 and back. Reads ' +
        'texts or objects with "encryptedText", one a line, from stdin without a file.',
    )
    .addOption(
      new Option('--to <encoding>', 'what to print')
        .choices(['base58', 'base64'])
        .makeOptionMandatory(),
    )
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('../crypto-calls.ts')).convert(file ?? '-', flags),
    );
}

const keyed = (command: Command): Command =>
  nodeOptions(command)
    .option('--password-env <variable>', 'variable that holds the password of the account')
    .option(
      '--seed-file <file>',
      "use no node: take the key from the seed phrase in this file; '-' is stdin",
    )
    .option('--national-crypto', 'with a seed phrase: as with platform-crypto = no');
