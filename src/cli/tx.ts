/**
 * `platform-node tx …`: transactions offline (encode, decode, verify) and against a running node
 * (sign, broadcast, send).
 */
import { type Command, Option } from 'commander';

const chainId = () =>
  new Option('-c, --chain-id <character>', 'network id').env('PLATFORM_NODE_CHAIN_ID');
const ndjson = () => new Option('--ndjson', 'one document a line in, one line out for each');
const national = () => new Option('--national-crypto', 'as with platform-crypto = no');
const concurrency = () =>
  new Option('--concurrency <n>', 'requests at once; answers keep the order').default('16');

/** Options of every command that calls a node. */
export function nodeOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-u, --url <url>', 'REST interface of the node')
        .env('PLATFORM_NODE_URL')
        .default('http://127.0.0.1:6862'),
    )
    .addOption(new Option('--api-key <key>', 'API key').env('PLATFORM_NODE_API_KEY'));
}

const FAILED_LINES = `
A line that fails gives {"error": code, "message": text} in its place; the exit code is then 1.`;

export function register(command: Command): void {
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
      .description('Let a node sign requests with a key of its keystore; prints transactions.'),
  )
    .addOption(ndjson())
    .addOption(concurrency())
    .option('--password-env <variable>', 'variable that holds the password of the account')
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('./tx-online.ts')).sign(file ?? '-', flags),
    );
  nodeOptions(
    command.command('broadcast [file]').description('Send signed transactions to a node.'),
  )
    .addOption(ndjson())
    .addOption(concurrency())
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('./tx-online.ts')).broadcast(file ?? '-', flags),
    );
  nodeOptions(
    command
      .command('send <type> [fields...]')
      .description(
        'Sign and broadcast one transaction: a type by name or number, and its fields as ' +
          'name=value, for example: tx send transfer sender=3M… recipient=3N… amount=100',
      ),
  )
    .option('--password-env <variable>', 'variable that holds the password of the account')
    .option('--wait <seconds>', 'wait so long for the transaction to be in a block')
    .action(async (type: string, fields: string[], flags) =>
      (await import('./tx-online.ts')).send(type, fields, flags),
    );
}

function offline(command: Command, name: 'encode' | 'decode' | 'verify', doc: string): void {
  command
    .command(`${name} [file]`)
    .description(`${doc} Reads stdin without a file.`)
    .addOption(chainId().makeOptionMandatory())
    .addOption(ndjson())
    .addOption(national())
    .addHelpText('after', FAILED_LINES)
    .action(async (file: string | undefined, flags) =>
      (await import('./tx-offline.ts')).convert(name, file ?? '-', flags),
    );
}
