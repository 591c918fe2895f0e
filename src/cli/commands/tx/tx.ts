/**
 * `platform-node tx …`: transactions offline (encode, decode, verify) and against a running node
 * (sign, broadcast, send).
 */
import { type Command, Option } from 'commander';
import { nodeOptions } from '../../node-options.ts';
import { chainIdOption, FAILED_LINES, nationalOption } from '../../offline-options.ts';

const ndjson = () => new Option('--ndjson', 'one document a line in, one line out for each');
const concurrency = () =>
  new Option('--concurrency <n>', 'parallel requests; answers keep the order').default('16');

export async function register(
  command: Command,
  _whole: unknown,
  words: readonly string[] | undefined,
): Promise<void> {
  offline(command, 'encode', 'JSON → {"id", "body", "bytes"}, the latter two in hexadecimal.');
  offline(command, 'decode', 'Bytes in hexadecimal or Base58, one a line → JSON.');
  offline(
    command,
    'verify',
    'Check the signature: JSON → {"id", "body", "bytes", "valid"}, bytes → JSON with "valid". ' +
      'An invalid signature makes the exit code 1.',
  );
  nodeOptions(
    command
      .command('sign [file]')
      .description(
        'Let a node sign requests with a key of its keystore; prints transactions. With a seed ' +
          'phrase no node is needed.',
      ),
  )
    .addOption(ndjson())
    .addOption(concurrency())
    .option('--password-env <variable>', 'variable that holds the password of the account')
    .option(
      '--seed-file <file>',
      "sign here, with the seed phrase in this file; '-' is stdin, /dev/fd/3 a descriptor",
    )
    .addOption(chainIdOption())
    .addOption(nationalOption())
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) => {
      if (flags.seedFile === undefined) {
        return (await import('./tx-online.ts')).sign(file ?? '-', flags);
      }
      return (await import('./tx-seed.ts')).signWithSeed(file ?? '-', flags);
    });
  nodeOptions(
    command.command('broadcast [file]').description('Send signed transactions to a node.'),
  )
    .addOption(ndjson())
    .addOption(concurrency())
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('./tx-online.ts')).broadcast(file ?? '-', flags),
    );
  const send = command
    .command('send')
    .usage('<type> [fields...] [options]')
    .description(
      'Let a node sign and broadcast one transaction, for example: ' +
        'tx send transfer --sender 3M… --recipient 3N… --amount 100 --wait 10',
    )
    .addHelpText('after', "\n'platform-node tx send <type> --help' lists the fields of a type.");
  // The types load a hundred files, and the other commands need none of them.
  if (words === undefined || words.includes(send.name())) {
    (await import('./tx-send.ts')).registerTypes(send);
  }
}

function offline(command: Command, name: 'encode' | 'decode' | 'verify', doc: string): void {
  command
    .command(`${name} [file]`)
    .description(`${doc} Reads stdin without a file.`)
    .addOption(chainIdOption().makeOptionMandatory())
    .addOption(ndjson())
    .addOption(nationalOption())
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('./tx-offline.ts')).convert(name, file ?? '-', flags),
    );
}
