/**
 * `platform-node keystore generate|list|import|export|passwd|derive` (node.md#key-files, node.md#tools).
 */

import { type Command, Option } from 'commander';
import type { SetFlags } from '../../config-file.ts';
import { nationalOption } from '../../offline-options.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { AS_BEFORE, printJson, say } from '../../terminal/output.ts';
import { setOption } from '../config.ts';
import type { PasswordFlags } from './account-passwords.ts';

type WalletFlags = PasswordFlags & SetFlags;
interface ImportFlags extends WalletFlags {
  filePasswordEnv?: string;
  phrases?: true;
}

export const passwordEnv = (of: string) =>
  new Option('--password-env <variable>', `variable that holds the password of ${of}`);
export const emptyPasswords = () => new Option('--empty-passwords', 'accounts without a password');
const filePasswordEnv = () =>
  new Option('--file-password-env <variable>', 'variable that holds the password of that file');

export function register(command: Command): void {
  command
    .command('generate [file]')
    .description(
      'Create accounts as the section accounts-generator of a file describes, or in the wallet of a ' +
        'node configuration, and print them. Asks for a password for each, twice.',
    )
    .option('--amount <n>', 'number of accounts, instead of the one in the file')
    .addOption(passwordEnv('every account'))
    .addOption(emptyPasswords())
    .option('-y, --yes', 'ask nothing: accounts without a password unless --password-env is given')
    .addOption(setOption())
    .addOption(new Option(AS_BEFORE).hideHelp())
    .action(generate);
  command
    .command('list <file>')
    .description('Print the accounts of the wallet of a configuration, one JSON object a line.')
    .addOption(setOption())
    .action(list);
  command
    .command('import <file> <keys>')
    .description(
      "Add the accounts of another node's key file to the wallet of a configuration. With " +
        "--phrases, <keys> has seed phrases, one a line ('-' is stdin).",
    )
    .option('--phrases', 'seed phrases instead of a key file')
    .addOption(filePasswordEnv())
    .addOption(passwordEnv('every account that has one'))
    .addOption(emptyPasswords())
    .addOption(setOption())
    .action(importKeys);
  command
    .command('export <file> <keys>')
    .description('Write the accounts of the wallet into a key file for other nodes.')
    .addOption(filePasswordEnv())
    .addOption(passwordEnv('every account that has one'))
    .addOption(setOption())
    .action(exportKeys);
  command
    .command('passwd <file> [address]')
    .description(
      'Change the password of the wallet of a configuration, or that of one of its accounts. Asks ' +
        'for the present passwords, and twice for the new one. A running node takes it over on ' +
        'SIGHUP.',
    )
    .addOption(passwordEnv('every account that has one'))
    .addOption(new Option('--new-password-env <variable>', 'variable that holds the new password'))
    .addOption(setOption())
    .action(async (...given: Parameters<typeof import('./passwd.ts').passwd>) =>
      (await import('./passwd.ts')).passwd(...given),
    );
  command
    .command('derive')
    .description(
      'Read seed phrases from stdin, one a line, and print their keys and addresses, one JSON ' +
        'object a line.',
    )
    .requiredOption('--chain-id <character>', 'network id')
    .option('--nonce <n>', 'number of the account of the phrase', '0')
    .addOption(nationalOption())
    .action(derive);
}

async function generate(
  file: string | undefined,
  flags: WalletFlags & { amount?: string; yes?: true; asBefore?: true },
): Promise<void> {
  const { openWallet, placeFromFile, placeFromSection } = await import('./open-wallet.ts');
  const { readConfigFile } = await import('../../config-file.ts');
  const { toolSection } = await import('../../tool-section.ts');
  const { isObject } = await import('../../../base/json/json.ts');
  const { tree } = await readConfigFile(file);
  const hasSection = isObject(tree) && isObject(tree['accounts-generator']);
  const section = hasSection ? toolSection(tree, 'accounts-generator') : undefined;
  const place =
    section === undefined ? await placeFromFile(file, flags.set) : placeFromSection(section);
  const amount =
    flags.amount === undefined ? (section?.count('amount', 1) ?? 1) : count(flags.amount);

  const { base58 } = await import('../../../base/base58.ts');
  const { systemRandom } = await import('../../../adapters/system.ts');
  const { passwordSource } = await import('./account-passwords.ts');
  const isQuiet = flags.yes === true && flags.passwordEnv === undefined;
  const passwords = passwordSource(isQuiet ? { emptyPasswords: true } : flags);
  const { family, scheme } = place.network;
  const keystore = await openWallet(place);
  try {
    for (let i = 1; i <= amount; i++) {
      const password = await passwords.choose(
        `Please enter password for ${i} account (empty password means no password): `,
      );
      const { privateKey, publicKey } = family.generateKeyPair(systemRandom);
      await keystore.add([{ privateKey, password }]);
      privateKey.fill(0);
      const address = scheme.addressToText(scheme.addressOf(publicKey));
      const key = base58.encode(publicKey);
      if (flags.asBefore === true) console.log(`${i} Address: ${address}; public key: ${key}`);
      else printJson({ number: i, address, publicKey: key });
    }
  } finally {
    passwords.close();
    keystore.close();
  }
  if (section?.bool('reload-node-wallet.enabled', false) === true) {
    const { reloadNodeWallet } = await import('./reload-wallet.ts');
    await reloadNodeWallet(section, flags.asBefore === true ? console.log : say);
  }
  if (flags.asBefore === true) console.log('Generator done');
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw new CliError(`'${text}' is no number from 1 to 999999`, EXIT.usage);
  }
  return Number(text);
}

async function list(file: string, flags: WalletFlags): Promise<void> {
  const { openWallet, placeFromFile } = await import('./open-wallet.ts');
  const { base58 } = await import('../../../base/base58.ts');
  const place = await placeFromFile(file, flags.set);
  const keystore = await openWallet(place);
  for (const { address, publicKey, password } of keystore.accounts()) {
    printJson({
      address: place.network.scheme.addressToText(address),
      publicKey: base58.encode(publicKey),
      password,
    });
  }
  keystore.close();
}

async function importKeys(file: string, source: string, flags: ImportFlags): Promise<void> {
  const { openWallet, placeFromFile } = await import('./open-wallet.ts');
  const { passwordSource } = await import('./account-passwords.ts');
  const place = await placeFromFile(file, flags.set);
  const keystore = await openWallet(place);
  const keys = flags.phrases === true ? phraseKeys : compatibleKeys;
  const passwords = passwordSource(
    flags.phrases === true && flags.passwordEnv === undefined ? { emptyPasswords: true } : flags,
  );
  try {
    const found = await keys(source, flags, passwords, place.network);
    const added = await keystore.add(found);
    for (const { privateKey } of found) privateKey.fill(0);
    for (const { address } of added) {
      printJson({ address: place.network.scheme.addressToText(address), added: true });
    }
    say(`${added.length} of ${found.length} accounts added, the others were there already`);
  } finally {
    passwords.close();
    keystore.close();
  }
}

type KeyReader = (
  source: string,
  flags: ImportFlags,
  passwords: import('./account-passwords.ts').PasswordSource,
  network: import('../../cryptography.ts').Cryptography,
) => Promise<import('../../../keystore/wallet.ts').NewKey[]>;

const phraseKeys: KeyReader = async (source, _flags, passwords, { family }) => {
  const { readLines } = await import('../../terminal/lines.ts');
  const keys = [];
  for await (const phrase of readLines(source)) {
    const { privateKey } = family.keyPairFromPhrase(phrase);
    keys.push({ privateKey, password: await passwords.choose('Password of the account: ') });
  }
  return keys;
};

const compatibleKeys: KeyReader = async (source, flags, passwords, { family, scheme }) => {
  const { files } = await import('../../../adapters/files.ts');
  const { hasPassword, openEntry, readCompatible } = await import(
    '../../../keystore/compatible.ts'
  );
  const { equal } = await import('../../../base/bytes.ts');
  const { readBytes } = await import('../../terminal/lines.ts');
  const bytes = source === '-' ? await readBytes(source) : files.read(source);
  if (bytes === undefined) throw new CliError(`The key file '${source}' does not exist`);
  const keys = [];
  for (const entry of await readCompatible(bytes, await filePassword(flags))) {
    const name = scheme.addressToText(scheme.addressOf(entry.publicKey));
    const password = hasPassword(entry) ? await passwords.ask(`Password of ${name}: `) : undefined;
    const privateKey = openEntry(entry, password);
    if (privateKey === undefined || !equal(family.publicKeyOf(privateKey), entry.publicKey)) {
      throw new CliError(`Failed to get key for ${name}: Wrong password`);
    }
    keys.push({ privateKey, password });
  }
  return keys;
};

async function filePassword(flags: ImportFlags): Promise<string> {
  const { fromVariable } = await import('./account-passwords.ts');
  const { askHidden } = await import('../../terminal/prompt.ts');
  const password =
    fromVariable(flags.filePasswordEnv) ?? (await askHidden('Password of the file > '));
  if (password !== undefined) return password;
  throw new CliError('No password of the file: use --file-password-env <variable>', EXIT.noConsole);
}

async function exportKeys(file: string, target: string, flags: ImportFlags): Promise<void> {
  const { openWallet, placeFromFile } = await import('./open-wallet.ts');
  const { passwordSource } = await import('./account-passwords.ts');
  const { files } = await import('../../../adapters/files.ts');
  const { systemRandom } = await import('../../../adapters/system.ts');
  const { writeCompatible } = await import('../../../keystore/compatible.ts');
  if (files.exists(target)) throw new CliError(`'${target}' exists already`);
  const place = await placeFromFile(file, flags.set);
  const { family, scheme } = place.network;
  if (!family.hasCompatibleKeyFiles) {
    throw new CliError(`There is no key file of other nodes for the ${family.title} cryptography`);
  }
  const passwords = passwordSource(flags, 'use --password-env <variable>');
  const keystore = await openWallet(place);
  try {
    const keys = [];
    for (const { address, publicKey, password: isProtected } of keystore.accounts()) {
      const name = scheme.addressToText(address);
      const password = isProtected ? await passwords.ask(`Password of ${name}: `) : undefined;
      keys.push({ publicKey, privateKey: await keystore.privateKey(address, password), password });
    }
    const bytes = await writeCompatible(keys, await filePassword(flags), systemRandom);
    files.replace(target, bytes, { secret: true });
    printJson({ file: target, accounts: keys.length });
  } finally {
    passwords.close();
    keystore.close();
  }
}

async function derive(flags: {
  chainId: string;
  nonce: string;
  nationalCrypto?: true;
}): Promise<void> {
  const { cryptographyOf } = await import('../../cryptography.ts');
  const { base58 } = await import('../../../base/base58.ts');
  const { readLines } = await import('../../terminal/lines.ts');
  const { family, scheme } = cryptographyOf(flags.nationalCrypto !== true, flags.chainId);
  if (!/^\d{1,9}$/.test(flags.nonce)) {
    throw new CliError(`'${flags.nonce}' is no account number`, EXIT.usage);
  }
  for await (const phrase of readLines('-')) {
    const { privateKey, publicKey } = family.keyPairFromPhrase(phrase, Number(flags.nonce));
    printJson({
      privateKey: base58.encode(privateKey),
      publicKey: base58.encode(publicKey),
      address: scheme.addressToText(scheme.addressOf(publicKey)),
    });
  }
}
