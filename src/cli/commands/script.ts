/** `platform-node script …`: scripts without a node, for pipelines and for their authors. */
import { type Command, InvalidArgumentError, Option } from 'commander';

const national = () => new Option('--national-crypto', 'as with platform-crypto = no');
const asset = () => new Option('--asset', 'as the script of an asset');
const chainId = () =>
  new Option('-c, --chain-id <character>', 'network id').env('PLATFORM_NODE_CHAIN_ID');

function height(text: string): string {
  if (/^\d{1,9}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a height');
}

const REFUSALS = `
A script that is refused gives {"error": text}; the exit code is then 1.`;

export function register(command: Command): void {
  command
    .command('compile [file]')
    .description(
      'Compile a source; prints {"script", "complexity", "extraFee"}. Reads stdin without a file.',
    )
    .addOption(asset())
    .addOption(national())
    .addHelpText('after', REFUSALS)
    .action(async (file: string | undefined, flags) =>
      (await import('../script-tools.ts')).compile(file ?? '-', flags),
    );
  command
    .command('decompile [file]')
    .description('Print a source that compiles to a script in Base64. Reads stdin without a file.')
    .addOption(national())
    .addHelpText('after', REFUSALS)
    .action(async (file: string | undefined, flags) =>
      (await import('../script-tools.ts')).decompile(file ?? '-', flags),
    );
  command
    .command('estimate [file]')
    .description(
      'Print {"script", "scriptText", "complexity", "extraFee"} of a script in Base64. Reads stdin ' +
        'without a file.',
    )
    .addOption(national())
    .addHelpText('after', REFUSALS)
    .action(async (file: string | undefined, flags) =>
      (await import('../script-tools.ts')).estimate(file ?? '-', flags),
    );
  command
    .command('eval [file]')
    .description(
      'Run a script, a source or Base64, on a transaction; prints {"result", "vars"}. The exit code ' +
        'is 0 for true, else 1. Reads stdin without a file.',
    )
    .requiredOption('--tx <file>', 'the transaction as JSON, as a node answers it')
    .option('--state <file>', 'what the script finds: data, aliases, balances (scripts.md)')
    .option('--height <n>', 'height of the last block', height, '1')
    .addOption(chainId().makeOptionMandatory())
    .addOption(asset())
    .addOption(national())
    .addHelpText('after', REFUSALS)
    .action(async (file: string | undefined, flags) =>
      (await import('../script-tools.ts')).evaluate(file ?? '-', flags),
    );
  command
    .command('test <file>')
    .description(
      'Run a file of test cases (docs/protocol/scripts.md): a line for each failing case, then ' +
        '{"cases", "failed"}. The exit code is 1 if one failed.',
    )
    .addOption(national())
    .action(async (file: string, flags) => (await import('../script-tools.ts')).test(file, flags));
}
