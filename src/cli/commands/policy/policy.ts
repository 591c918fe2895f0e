/** `platform-node policy …`: policies, and the confidential data of their members. */
import { type Command, Option } from 'commander';
import { type NodeFlags, nodeOptions, privacyOptions, signOptions } from '../../node-options.ts';
import { sentence } from '../../terminal/output.ts';
import type { ChangeFlags, CreateFlags, ReadFlags, SendFlags } from './policy-calls.ts';

const KEY =
  'The API key is that of the privacy methods (rest-api.privacy-api-key-hash); without one the ' +
  'variable PLATFORM_NODE_API_KEY is used, which nodes accept that have no key for privacy.';

const addresses = (text: string): string[] => text.split(',').filter((part) => part !== '');

export function register(policy: Command): void {
  const named = (usage: string, summary: string): Command =>
    policy.command(usage).summary(summary).description(sentence(summary));
  const verb = (usage: string, summary: string): Command => nodeOptions(named(usage, summary));
  const dataVerb = (usage: string, summary: string): Command =>
    privacyOptions(named(usage, summary))
      .addHelpText('after', `\n${KEY}`)
      .hook('preAction', (_, command) => {
        const general = process.env['PLATFORM_NODE_API_KEY'];
        if (command.opts()['apiKey'] === undefined && general !== undefined) {
          command.setOptionValueWithSource('apiKey', general, 'env');
        }
      });
  const calls = () => import('./policy-calls.ts');

  signed(verb('create', 'create a policy'))
    .requiredOption('--name <text>', 'name of the policy')
    .option('--description <text>', 'description of the policy')
    .requiredOption(
      '--recipients <addresses>',
      'accounts that receive the data, separated by commas',
      addresses,
    )
    .option(
      '--owners <addresses>',
      'accounts that may change the policy; default: the sender',
      addresses,
    )
    .action(async (flags: CreateFlags) => (await calls()).create(flags));

  signed(verb('update <policyId>', 'add members to a policy, or remove them'))
    .addOption(new Option('--add', 'add them').conflicts('remove'))
    .option('--remove', 'remove them')
    .option(
      '--recipients <addresses>',
      'accounts that receive the data, separated by commas',
      addresses,
    )
    .option('--owners <addresses>', 'accounts that may change the policy', addresses)
    .action(async (id: string, flags: ChangeFlags) => (await calls()).update(id, flags));

  verb('list', 'print all policies').action(async (flags: NodeFlags) =>
    (await calls()).list(flags),
  );
  verb('show <policyId>', 'print a policy and the hashes of its data').action(
    async (id: string, flags: NodeFlags) => (await calls()).show(id, flags),
  );

  signed(dataVerb('send-data <policyId> <file>', 'send a file to the members of a policy'))
    .option('--filename <text>', 'name to send it under; default: that of the file')
    .option('--type <text>', 'kind of data', 'file')
    .option('--author <text>', 'author of the file')
    .option('--comment <text>', 'comment on the file')
    .action(async (id: string, file: string, flags: SendFlags) =>
      (await calls()).sendData(id, file, flags),
    );

  reading(dataVerb('get-data <hash>', 'write data to stdout or to a file'))
    .option('-o, --output <file>', 'file to write, which must not exist yet')
    .action(async (hash: string, flags: ReadFlags) => (await calls()).getData(hash, flags));
  reading(dataVerb('get-info <hash>', 'print the metadata sent with the data')).action(
    async (hash: string, flags: ReadFlags) => (await calls()).getInfo(hash, flags),
  );
  dataVerb('sync [policyId]', 'fetch missing data of one policy or of all').action(
    async (id: string | undefined, flags: NodeFlags) => (await calls()).sync(id, flags),
  );
}

const signed = (command: Command): Command =>
  signOptions(command, 'the transaction to be in a block');

const reading = (command: Command): Command =>
  command.option('--policy <policyId>', 'policy of the data; default: any policy with this hash');
