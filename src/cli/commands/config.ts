/** `platform-node config check|show|explain|schema|example`. */

import { type Command, Option } from 'commander';
import type { SetFlags } from '../config-file.ts';
import { CliError, EXIT } from '../terminal/exit.ts';
import { isForPerson, printDocument, printJson, say, warn } from '../terminal/output.ts';

interface Flags extends SetFlags {
  config?: string;
}

const collect = (value: string, former: string[] = []): string[] => [...former, value];

/** `--set key=value`, for every command that reads a configuration. */
export const setOption = (): Option =>
  new Option('--set <key=value>', 'override a setting; may be repeated').argParser(collect);

export function register(command: Command): void {
  command
    .command('check <file>')
    .description('Check a configuration file and report all errors at once.')
    .option(
      '--strict',
      'unknown settings, unknown variables and missing includes are errors, not warnings',
    )
    .addOption(setOption())
    .action(check);
  command
    .command('show <file>')
    .description('Print the effective settings, defaults included, without secrets.')
    .addOption(setOption())
    .action(async (file: string, flags: Flags) => {
      const { loadConfig } = await import('../config-file.ts');
      const { effectiveSettings } = await import('../../node/config/document.ts');
      const { config, warnings } = await loadConfig(file, flags);
      warnings.forEach(warn);
      printJson(effectiveSettings(config));
    });
  command
    .command('explain <key> [file]')
    .description(
      'Explain one setting: meaning, kind, default, variable, and its current value in a configuration file.',
    )
    .option('-c, --config <file>', 'the same as [file]')
    .addOption(setOption())
    .action(explain);
  command
    .command('schema')
    .description('Print the JSON Schema of the section node.')
    .action(async () => {
      printJson((await import('../../node/config/document.ts')).configSchema());
    });
  command
    .command('example')
    .description('Print a configuration file with every setting, commented out.')
    .action(async () => {
      printDocument((await import('../../node/config/document.ts')).exampleConfig());
    });
}

/**
 * A pipe gets JSON, and people read the same on stderr. On a terminal both would stand one below the
 * other, so a person gets the text and a last line.
 */
async function check(file: string, flags: Flags & { strict?: true; json?: true }): Promise<void> {
  const { said, errors, warnings, unknown } = await findingsOf(file, flags);
  const isStrict = flags.strict === true;
  const strictErrors = isStrict ? unknown : [];
  const rest = isStrict ? warnings.filter((one) => !unknown.includes(one)) : warnings;
  if (flags.json !== true) {
    rest.forEach(warn);
    [...strictErrors, ...said].forEach(say);
  }
  const all = [...strictErrors, ...errors];
  if (isForPerson()) console.log(`${file}: ${counted(all, 'error')}, ${counted(rest, 'warning')}`);
  else printJson({ ok: all.length === 0, file, errors: all, warnings: rest });
  if (all.length > 0) process.exitCode = EXIT.failure;
}

const counted = ({ length }: readonly unknown[], noun: string): string =>
  `${length === 0 ? 'no' : length} ${noun}${length === 1 ? '' : 's'}`;

interface Findings {
  /** The errors as a person reads them. */
  readonly said: readonly string[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Those of the warnings that name a key that nobody knows, or an include that is missing. */
  readonly unknown: readonly string[];
}

async function findingsOf(file: string, flags: Flags): Promise<Findings> {
  const { loadConfig, readConfigFile } = await import('../config-file.ts');
  const { ConfigError, problemText } = await import('../../node/config/problems.ts');
  const { unknownOfTools } = await import('../../node/config/read.ts');
  try {
    const ofTools = unknownOfTools(await readConfigFile(file));
    if (ofTools !== undefined) return { said: [], errors: [], warnings: ofTools, unknown: ofTools };
    const { config, warnings, unknown } = await loadConfig(file, flags);
    const { genesisFindings } = await import('../genesis-block.ts');
    const { tlsProblem } = await import('../tls/tls-findings.ts');
    const findings = genesisFindings(config);
    const ofTls = tlsProblem(config) ?? [];
    const errors = findings.errors.concat(ofTls);
    const said = findings.errors.map((error) => `genesis: ${error}`).concat(ofTls);
    return {
      said: said.map((line) => `${file}: ${line}`),
      errors,
      warnings: [...warnings, ...findings.warnings],
      unknown,
    };
  } catch (cause) {
    // No file, or none that can be parsed.
    if (cause instanceof CliError) {
      const { message } = cause;
      return { said: [message], errors: [message], warnings: [], unknown: [] };
    }
    if (!(cause instanceof ConfigError)) throw cause;
    const { message, problems, warnings, unknown } = cause;
    return { said: [message], errors: problems.map(problemText), warnings, unknown };
  }
}

async function explain(asked: string, file: string | undefined, flags: Flags): Promise<void> {
  const { allSettings } = await import('../../node/config/settings.ts');
  const { defaultText, effectiveSettings, otherSpellings } = await import(
    '../../node/config/document.ts'
  );
  const key = asked.replace(/^node\./, '');
  const found = allSettings.find(
    (one) => one.key === key || one.env === asked || otherSpellings(one.setting).includes(key),
  );
  if (found === undefined) {
    const { unknownKey } = await import('../../node/config/sources.ts');
    throw new CliError(unknownKey(key));
  }
  const { setting, env } = found;
  const explanation: Record<string, unknown> = {
    key: found.key,
    meaning: setting.doc,
    value: setting.kind.name,
    default: defaultText(setting).replace(/^default /, ''),
    variable: env,
    otherSpellings: otherSpellings(setting),
    equalOnAllNodes: setting.network === true,
    hasEffect: setting.ignored !== true,
  };
  const path = file ?? flags.config;
  if (path !== undefined) {
    const { loadConfig } = await import('../config-file.ts');
    const { config, origins } = await loadConfig(path, flags);
    explanation['now'] = effectiveSettings(config)[found.key] ?? null;
    const origin = origins.get(found.key);
    explanation['from'] = origin === undefined ? 'default' : origin.source;
  }
  printJson(explanation);
}
