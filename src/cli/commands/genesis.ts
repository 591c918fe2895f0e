/** `platform-node genesis sign|show|verify` (blocks.md#signing). */

import { type Command, Option } from 'commander';
import type { SignedGenesis } from '../../node/config/edit-genesis.ts';
import type { Config } from '../../node/config/settings.ts';
import type { SetFlags } from '../config-file.ts';
import { CliError } from '../terminal/exit.ts';
import { AS_BEFORE, printDocument, printJson, say, warn } from '../terminal/output.ts';
import { setOption } from './config.ts';

export function register(command: Command): void {
  command
    .command('sign [file]')
    .description(
      'Sign the genesis block: checks the section, signs with a key that is then deleted, and ' +
        'writes signature, key and time into the file. The old file is kept beside it.',
    )
    .option('--force', 'sign a file that is signed already, which makes another network')
    .addOption(new Option(AS_BEFORE).hideHelp())
    .addOption(setOption())
    .action(sign);
  command
    .command('show <file>')
    .description('Print the genesis block of a signed configuration as JSON.')
    .option('--bytes', 'print its bytes in hexadecimal instead')
    .addOption(setOption())
    .action(show);
  command
    .command('verify <file>')
    .description('Check the genesis section and the signature of its block.')
    .addOption(setOption())
    .action(async (file: string, flags: SetFlags) => {
      const { block } = await load(file, flags);
      const { base58 } = await import('../../base/base58.ts');
      printJson({ valid: true, signature: base58.encode(block.header.signature) });
    });
}

interface SignFlags extends SetFlags {
  force?: true;
  asBefore?: true;
}

async function sign(file: string | undefined, flags: SignFlags): Promise<void> {
  if (file === undefined) throw new CliError('Specify path to the node configuration file');
  const { files } = await import('../../adapters/files.ts');
  if (!files.exists(file)) throw new CliError(`Configuration file '${file}' does not exist!`);
  const config = await read(file, flags);
  const { signature } = config.blockchain.custom.genesis;
  if (signature && flags.force !== true) {
    throw new CliError(
      `The genesis block in '${file}' is signed already, with the signature ${signature}. Nodes ` +
        'that have it would not accept another one: sign it again with --force',
    );
  }

  const { signedGenesis } = await import('../sign-genesis.ts');
  const signed = await signedGenesis(config);
  const { resolve } = await import('node:path');
  const [fresh, old] = [resolve(file), resolve(await write(file, signed))];
  if (flags.asBefore !== true) {
    printJson({ file: fresh, old, ...signed });
    return;
  }
  console.log('Genesis signed successfully!');
  console.log(`New configuration file: ${fresh}`);
  console.log(`Old configuration saved to: ${old}`);
}

/** Keeps the old file beside the new one; resolves with its path. */
async function write(file: string, signed: SignedGenesis): Promise<string> {
  const { files } = await import('../../adapters/files.ts');
  const { editGenesis } = await import('../../node/config/edit-genesis.ts');
  const before = files.read(file)!;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(before);
  const edited = editGenesis(text, signed);
  if (edited === undefined) {
    throw new CliError(`'${file}' has no genesis section of its own to write the signature into`);
  }
  const old = `${file}.old.${stamp(new Date(signed.timestamp))}`;
  if (files.exists(old)) {
    throw new CliError(`Cannot rename '${file}' to '${old}': File already exists`);
  }
  // Makes a copy first, then replaces the file atomically, so that a configuration exists at every
  // moment.
  files.replace(old, before, { secret: true, copyOf: file });
  files.replace(file, new TextEncoder().encode(edited));
  return old;
}

/** dd-MM-yyyy.HH-mm-ss, local time */
function stamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(date.getDate())}-${two(date.getMonth() + 1)}-${date.getFullYear()}`;
  return `${day}.${two(date.getHours())}-${two(date.getMinutes())}-${two(date.getSeconds())}`;
}

async function read(file: string, flags: SetFlags): Promise<Config> {
  const { loadConfig } = await import('../config-file.ts');
  const { config, warnings } = await loadConfig(file, flags);
  warnings.forEach(warn);
  return config;
}

async function load(file: string, flags: SetFlags) {
  const config = await read(file, flags);
  const { genesisBlock } = await import('../genesis-block.ts');
  const { checkedCryptography } = await import('../sign-genesis.ts');
  const { scheme } = checkedCryptography(config);
  return { block: genesisBlock(config), scheme };
}

async function show(file: string, flags: SetFlags & { bytes?: true }): Promise<void> {
  const { block, scheme } = await load(file, flags);
  if (flags.bytes === true) {
    printDocument(`${Buffer.from(block.bytes).toString('hex')}\n`);
    return;
  }
  const { base58 } = await import('../../base/base58.ts');
  const { decodeTx } = await import('../../tx/tx-bytes.ts');
  const { txToJson } = await import('../../tx/json/encode.ts');
  const { header } = block;
  say(`${block.transactions.length} transactions, ${block.bytes.length} bytes`);
  printJson({
    version: header.version,
    timestamp: header.timestamp,
    reference: base58.encode(header.reference),
    generatorPublicKey: base58.encode(header.generator),
    signature: base58.encode(header.signature),
    transactions: block.transactions.map((bytes) => txToJson(decodeTx(bytes, scheme), scheme)),
  });
}
