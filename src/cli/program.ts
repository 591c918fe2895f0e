/**
 * The command line: one verb for each file in `commands`, or for the folder of that name where the
 * verb has files of its own.
 *
 * Convention: `<verb>.ts` exports `register(command)`. It receives the verb's command, which the
 * table below has named and described. It adds arguments, options, sub-commands and actions. Only
 * the file of the requested verb is loaded. Large modules are imported inside its action, so that
 * `--help` stays below 120 ms.
 *
 * A command prints answers on stdout and messages on stderr. It fails by throwing: CliError,
 * ConfigError and ApiError become one message and an exit code.
 */
import { Command } from 'commander';
import { CliError, EXIT } from './terminal/exit.ts';
import { AS_BEFORE, askForJson, sentence } from './terminal/output.ts';

interface Verb {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ register: Register }>;
}

/** `words` is the command line; undefined where all verbs are wanted, for a description. */
type Register = (
  command: Command,
  whole: Whole,
  words: readonly string[] | undefined,
) => void | Promise<void>;

/** The program with every verb registered, for descriptions. */
export type Whole = () => Promise<Command>;

const verbs: readonly Verb[] = [
  {
    name: 'start',
    summary: 'run a node',
    load: () => import('./commands/start.ts'),
  },
  {
    name: 'dev',
    summary: 'run a private network on this machine',
    load: () => import('./commands/dev/dev.ts'),
  },
  {
    name: 'network',
    summary: 'found a network of several organisations, and change its members',
    load: () => import('./commands/network/network.ts'),
  },
  {
    name: 'keystore',
    summary: 'create, list and move accounts',
    load: () => import('./commands/keystore/keystore.ts'),
  },
  {
    name: 'genesis',
    summary: 'sign, show and verify the genesis block of a configuration',
    load: () => import('./commands/genesis.ts'),
  },
  {
    name: 'config',
    summary: 'check and explain a configuration',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'signer',
    summary: 'hold the keys of a node outside of it, and sign for it',
    load: () => import('./commands/signer.ts'),
  },
  {
    name: 'api-key',
    summary: 'make API keys and their hashes',
    load: () => import('./commands/api-key.ts'),
  },
  {
    name: 'tx',
    summary: 'encode, decode, verify, sign and send transactions',
    load: () => import('./commands/tx/tx.ts'),
  },
  {
    name: 'chain',
    summary: 'export, import and roll back the chain of a stopped node',
    load: () => import('./commands/chain/chain.ts'),
  },
  {
    name: 'db',
    summary: 'measure, check and compact the store of a node',
    load: () => import('./commands/db/db.ts'),
  },
  {
    name: 'backup',
    summary: 'copy a running node, check the copy, and restore it',
    load: () => import('./commands/backup/backup.ts'),
  },
  {
    name: 'finality',
    summary: 'begin to vote on blocks, vote again, check evidence of a lie',
    load: () => import('./commands/finality.ts'),
  },
  {
    name: 'block',
    summary: 'print a block of a running node',
    load: () => import('./commands/block.ts'),
  },
  {
    name: 'account',
    summary: 'print balances, roles, aliases and leases of an account',
    load: () => import('./commands/account.ts'),
  },
  {
    name: 'asset',
    summary: 'print an asset',
    load: () => import('./commands/asset.ts'),
  },
  {
    name: 'permissions',
    summary: 'print the roles of an account',
    load: () => import('./commands/permissions.ts'),
  },
  {
    name: 'policy',
    summary: 'make policies, and exchange confidential data of their members',
    load: () => import('./commands/policy/policy.ts'),
  },
  {
    name: 'contract',
    summary: 'make, call and inspect contracts in containers',
    load: () => import('./commands/contract/contract.ts'),
  },
  {
    name: 'crypto',
    summary: 'encrypt and decrypt texts between accounts',
    load: () => import('./commands/crypto.ts'),
  },
  {
    name: 'script',
    summary: 'compile, decompile, estimate, evaluate and test scripts',
    load: () => import('./commands/script.ts'),
  },
  {
    name: 'node',
    summary: 'query or stop a running node',
    load: () => import('./commands/node.ts'),
  },
  {
    name: 'top',
    summary: 'watch a running node on one screen',
    load: () => import('./commands/top/top.ts'),
  },
  {
    name: 'load',
    summary: 'measure how many transfers running nodes take',
    load: () => import('./commands/load.ts'),
  },
  {
    name: 'data',
    summary: 'run the data service, which searches the chain',
    load: () => import('./commands/data/data.ts'),
  },
  {
    name: 'doctor',
    summary: 'find problems that keep a node from working well',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'completion',
    summary: 'print a completion script for a shell',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'version',
    summary: 'print the version',
    load: () => import('./commands/version.ts'),
  },
];

const FOOTER = `
Answers go to stdout as JSON, messages to stderr. A file argument of '-' is stdin.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by a contract, 4 contract not executed,
            38 unsupported feature activated, 61 password needed but no console,
            69 no usable time, 70 failed assertion, 75 data directory in use, 77 owner not registered,
            130 chain import, or a question for a password, interrupted.
Environment: PLATFORM_NODE_OWNER_PASSWORD[_EMPTY], NODE_<SETTING>, LOG_LEVEL, NO_COLOR.`;

/**
 * The program with the verb of this command line fully registered, or with all verbs for
 * `undefined`.
 */
export async function buildProgram(words: readonly string[] | undefined): Promise<Command> {
  const named = words?.[0] === 'help' ? words[1] : words?.find((word) => !word.startsWith('-'));
  const program = new Command('platform-node')
    .description('A node of a permissioned blockchain network, and its tools.')
    .option('-V, --version', 'print the version')
    .helpCommand('help [command...]', 'show help of a command')
    .addHelpText('after', FOOTER)
    // An option after the name of a verb belongs to the verb: `tx send transfer --version 3`.
    .enablePositionalOptions()
    .exitOverride();
  program.on('option:version', () => {
    throw new VersionAsked();
  });
  for (const verb of verbs) {
    const command = program.command(verb.name);
    command.summary(verb.summary).description(sentence(verb.summary));
    if (words === undefined || named === verb.name) {
      await (await verb.load()).register(command, () => buildProgram(undefined), words);
      takeJson(command);
    }
  }
  program.hook('preAction', (_program, action) => {
    if (action.opts()['json'] === true) askForJson();
  });
  return program;
}

/** Every command takes `--json`, so that a script need not know which ones print more than JSON. */
function takeJson(command: Command): void {
  command.commands.forEach(takeJson);
  if (!acts(command) || command.options.some(({ long }) => long === '--json')) return;
  command.option('--json', 'print JSON, one value a line, also on a terminal');
}

/** `help tx send transfer` and `tx help send transfer`: the command that they ask about. */
function askedAbout(program: Command, words: readonly string[]): Command | undefined {
  let at = program;
  let isAsked = false;
  for (const word of words) {
    if (at.commands.length === 0) break;
    if (word === 'help') {
      isAsked = true;
      continue;
    }
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      if (!isAsked) return undefined;
      throw new CliError(
        `There is no command '${words.filter((one) => one !== 'help').join(' ')}'`,
        EXIT.usage,
      );
    }
    at = next;
  }
  return isAsked ? at : undefined;
}

/** `platform-node --version`: the same answer as the verb. */
class VersionAsked extends Error {}

/** Names of the tools of earlier releases → the words that replace them. */
const OLD_NAMES: Readonly<Record<string, readonly string[]>> = {
  AccountsGeneratorApp: ['keystore', 'generate', AS_BEFORE],
  GenesisBlockGenerator: ['genesis', 'sign', AS_BEFORE],
  ApiKeyHash: ['api-key', 'hash', AS_BEFORE],
};

/** `generator <Name> <config>` and `<Name> <config>` become verbs. Throws CliError. */
function modernWords(args: readonly string[]): string[] {
  const isGenerator = args[0] === 'generator';
  const [name, ...rest] = isGenerator ? args.slice(1) : args;
  const modern = OLD_NAMES[name ?? ''];
  if (modern !== undefined) return [...modern, ...rest];
  if (!isGenerator) return args.length === 0 ? ['--help'] : [...args];
  const list = Object.keys(OLD_NAMES).map((known) => ` * ${known}`);
  throw new CliError(
    name === undefined
      ? 'No generator name given.'
      : [`Unknown generator ${name}. Specify one of the following:`, ...list].join('\n'),
  );
}

/** Runs one command line; resolves to the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    const words = modernWords(args);
    const program = await buildProgram(words);
    const asked = askedAbout(program, words);
    if (asked !== undefined) {
      asked.outputHelp();
      return EXIT.ok;
    }
    await program.parseAsync(words, { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.ok;
  } catch (cause) {
    if (cause instanceof VersionAsked) return run(['version']);
    const { exitCodeFor } = await import('./terminal/failure.ts');
    return exitCodeFor(cause);
  }
}

/** False for a verb that only has commands below it. */
const acts = (command: Command): boolean =>
  command.commands.length === 0 || command.registeredArguments.length > 0;
