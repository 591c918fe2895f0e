/** `platform-node contract …`: contracts in containers, from the first file to the last call. */
import { type Command, Option } from 'commander';
import { type NodeFlags, nodeOptions, type SignFlags, signOptions } from '../../node-options.ts';
import { sentence } from '../../terminal/output.ts';
import type { BuildFlags } from './contract-build.ts';
import type { CallFlags, CreateFlags, ImageFlags, StateFlags } from './contract-calls.ts';
import { paramFrom } from './contract-params.ts';
import { dockerHostOption } from './docker-host-option.ts';

const CODES = `
With --wait, the exit code is 0 where a miner has executed the transaction; stdout then has the results. It
is 3 where the contract refused it and 4 where it could not be executed; stdout then has the status record.
It is 1 for all other failures, for example where no miner has executed it in time.`;

type Verb = (usage: string, summary: string) => Command;

const calls = () => import('./contract-calls.ts');

export function register(contract: Command): void {
  const named: Verb = (usage, summary) =>
    contract.command(usage).summary(summary).description(sentence(summary));
  const verb: Verb = (usage, summary) => nodeOptions(named(usage, summary));
  registerProject(named);
  registerTransactions(verb);
  registerQuestions(verb);
}

function registerProject(named: Verb): void {
  named('init <folder>', 'make a project in a new folder')
    .addOption(
      new Option('--template <name>', 'language of the contract')
        .choices(['shell', 'typescript'])
        .default('typescript'),
    )
    .action(async (folder: string, flags) =>
      (await import('./contract-project.ts')).init(folder, flags),
    );
  named('build <folder>', 'build the image of a project')
    .option('--tag <name>', 'name of the image; default: name of the folder and start of the hash')
    .addOption(dockerHostOption())
    .addHelpText(
      'after',
      '\nThe engine builds the Dockerfile of the folder. Where it copies runtime/shell or runtime/node, ' +
        'the\ncommand adds these programs from this machine, so that no registry is needed.',
    )
    .action(async (folder: string, flags: BuildFlags) =>
      (await import('./contract-build.ts')).build(folder, flags),
    );
}

function registerTransactions(verb: Verb): void {
  params(documents(signed(imaged(verb('create [file]', 'create a contract')))))
    .option('--name <text>', 'name of the contract; default: that of the image')
    .option(
      '--version <n>',
      'version of the transaction; for an image without the label "protocol", 1 means that the ' +
        'node runs /run.sh and 2 that the contract uses gRPC',
      '1',
    )
    .addHelpText('after', `\nA file holds the output of 'contract build'.\n${CODES}`)
    .action(async (file: string | undefined, flags: CreateFlags) =>
      (await calls()).create(file, flags),
    );
  params(documents(signed(verb('call <contractId> [file]', 'call a contract'))))
    .option('--contract-version <n>', 'version of the contract; default: the current one')
    .addHelpText('after', `\nA file holds objects with the member "params".\n${CODES}`)
    .action(async (id: string, file: string | undefined, flags: CallFlags) =>
      (await calls()).call(id, file, flags),
    );
  documents(signed(imaged(verb('update <contractId> [file]', 'give a contract a new image'))))
    .addHelpText('after', `\nA file holds the output of 'contract build'.\n${CODES}`)
    .action(async (id: string, file: string | undefined, flags: ImageFlags) =>
      (await calls()).update(id, file, flags),
    );
  signed(verb('disable <contractId>', 'end a contract, which cannot be undone')).action(
    async (id: string, flags: SignFlags) => (await calls()).disable(id, flags),
  );
}

function registerQuestions(verb: Verb): void {
  verb('show [contractId]', 'print a contract: image, version, whether it is active').action(
    async (id: string | undefined, flags: NodeFlags) => (await calls()).show(id, flags),
  );
  verb('status <txId>', 'print what became of a contract transaction').action(
    async (id: string, flags: NodeFlags) => (await calls()).status(id, flags),
  );
  verb('state <contractId>', 'print entries of a contract')
    .option(
      '--key <key>',
      'this entry; may be given several times',
      collect((text) => text),
    )
    .option('--matches <regex>', 'entries whose whole keys match')
    .option('--limit <n>', 'the most entries to print')
    .option('--offset <n>', 'entries to skip')
    .action(async (id: string, flags: StateFlags) => (await calls()).state(id, flags));
}

/** The values of an option that may be given several times. */
const collect =
  <T>(read: (text: string) => T) =>
  (text: string, former: readonly T[] = []): T[] => [...former, read(text)];

const imaged = (command: Command): Command =>
  command
    .option('--image <name>', 'name of the image, with its tag')
    .option('--image-hash <hex>', 'SHA-256 id of the image');

const params = (command: Command): Command =>
  command.option(
    '--param <key:type:value>',
    'parameter; may be given several times; types: string, integer, boolean, binary (in Base64)',
    collect(paramFrom),
  );

const documents = (command: Command): Command =>
  command
    .option('--ndjson', 'one document a line in, one line out for each')
    .option('--concurrency <n>', 'parallel transactions; answers keep the order', '1');

const signed = (command: Command): Command => signOptions(command, 'the execution');
