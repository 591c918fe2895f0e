/** `platform-node network …`: founds a network of several organisations, and changes its members (docs/guide/network.md). */
import { type Command, Option } from 'commander';
import { ROLES } from '../../../ledger/roles.ts';
import {
  consensusOption,
  cryptoOption,
  noFinalityOption,
  roundOption,
} from '../../new-network-options.ts';
import { nodeOptions } from '../../node-options.ts';
import { emptyPasswords, passwordEnv } from '../keystore/keystore.ts';
import { organisation } from './organisations.ts';

const WAIT_SECONDS = '300';

export function register(command: Command): void {
  founding(command);
  const changes = [
    membership(command, 'add <folder> <request>', 'register a member and give it roles')
      .addOption(
        new Option('--role <role...>', 'roles of the member (default: miner)').choices(
          ROLES.filter((role) => role !== 'banned'),
        ),
      )
      .action(async (...given: Parameters<typeof import('./membership.ts').add>) =>
        (await import('./membership.ts')).add(...given),
      ),
    membership(
      command,
      'remove <member>',
      'take the roles of a member away and end its registration; the member is an address or a public key',
    ).action(async (...given: Parameters<typeof import('./membership.ts').remove>) =>
      (await import('./membership.ts')).remove(...given),
    ),
    membership(
      command,
      'replace <folder> <member> <request>',
      'give the roles of a member to its new key, and remove the old one, which is an address or a public key',
    )
      .option('--force', 'although another miner does not vote yet')
      .action(async (...given: Parameters<typeof import('./membership.ts').replace>) =>
        (await import('./membership.ts')).replace(...given),
      ),
  ];
  for (const change of changes) change.addHelpText('after', UNSENT);
}

const UNSENT = `
Without --sender the transactions are printed, one a line. What the chain has already is left out.`;

function founding(command: Command): void {
  command
    .command('init')
    .description(
      'write a folder for each organisation: node.conf, the draft of the genesis, a unit of systemd, a ' +
        'compose file, a README; no keys',
    )
    .addOption(
      new Option(
        '--org <name=host[:port[:rest-port]]>',
        'an organisation and where its node is; repeated',
      )
        .argParser(organisation)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <folder>', 'a new or empty folder')
    .option('--from <folder>', 'for organisations that join the network of this member folder')
    .addOption(consensusOption())
    .addOption(cryptoOption())
    .option('--chain-id <character>', 'a part of every address of the network (default: T)')
    .addOption(roundOption('20s, 40s with pos'))
    .addOption(noFinalityOption())
    .option('--tls', 'REST is HTTPS for other machines, with certificates of the members')
    .action(async (flags) => (await import('./init.ts')).init(flags));
  command
    .command('join <folder>')
    .description(
      'make the keys of a member in its folder, on its machine, and write the request, which has the ' +
        'public key alone; a key that is there stays',
    )
    .option('--new-key', 'make another key beside the present one, which is lost or stolen')
    .addOption(passwordEnv('the key'))
    .addOption(emptyPasswords())
    .action(async (...given: Parameters<typeof import('./join.ts').join>) =>
      (await import('./join.ts')).join(...given),
    );
  command
    .command('merge <folder> <requests...>')
    .description(
      'check the requests of all organisations, put their keys into the draft that init has written, ' +
        'sign the first block, and print the checksum',
    )
    .action(async (folder: string, requests: string[]) =>
      (await import('./merge.ts')).merge(folder, requests),
    );
  command
    .command('checksum <folder>')
    .description('print the checksum that all members compare before they start')
    .action(async (folder: string) => (await import('./checksum.ts')).checksum(folder));
}

const membership = (command: Command, words: string, doc: string): Command =>
  nodeOptions(command.command(words).description(doc))
    .option('--sender <address>', 'account that signs, with the roles for it')
    .option('--password-env <variable>', 'variable that holds the password of the account')
    .option(
      '--wait <seconds>',
      'seconds to wait for a transaction to be in a block, or in a final one where there is finality',
      WAIT_SECONDS,
    );
