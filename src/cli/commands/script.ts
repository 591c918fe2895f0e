/** `platform-node script …`: scripts without a node, for pipelines and for their authors. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { chainIdOption, nationalOption } from '../offline-options.ts';

const asset = () => new Option('--asset', 'as the script of an asset');

function height(text: string): string {
  if (/^\d{1,9}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a height');
}

const REFUSALS = `
A script that is refused gives {"error": text}; the exit code is then 1.`;

export function register(command: Command): void {
  const sub = (
    verb: 'compile' | 'decompile' | 'estimate' | 'evaluate',
    summary: string,
    name: string = verb,
  ): Command =>
    command
      .command(`${name} [file]`)
      .description(`${summary} Reads stdin without a file.`)
      .addHelpText('after', REFUSALS)
      .action(async (file: string | undefined, flags) =>
        (await import('../script-tools.ts'))[verb](file ?? '-', flags),
      );
  sub('compile', 'Compile a source; prints {"script", "complexity", "extraFee"}.')
    .addOption(asset())
    .addOption(nationalOption());
  sub('decompile', 'Print a source that compiles to a script in Base64.').addOption(
    nationalOption(),
  );
  sub(
    'estimate',
    'Print {"script", "scriptText", "complexity", "extraFee"} of a script in Base64.',
  ).addOption(nationalOption());
  sub(
    'evaluate',
    'Run a script, a source or Base64, on a transaction; prints {"result", "vars"}. The exit code ' +
      'is 0 for true, else 1.',
    'eval',
  )
    .requiredOption('--tx <file>', 'the transaction as JSON, as a node answers it')
    .option('--state <file>', 'what the script finds: data, aliases, balances (scripts.md)')
    .option('--height <n>', 'height of the last block', height, '1')
    .addOption(chainIdOption().makeOptionMandatory())
    .addOption(asset())
    .addOption(nationalOption());
  command
    .command('test <file>')
    .description(
      'Run a file of test cases (docs/protocol/scripts.md): a line for each failing case, then ' +
        '{"cases", "failed"}. The exit code is 1 if one failed.',
    )
    .addOption(nationalOption())
    .action(async (file: string, flags) => (await import('../script-tools.ts')).test(file, flags));
}
