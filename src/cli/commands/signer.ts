/** `platform-node signer`: holds the keys of a node (docs/guide/signer.md). */

import type { Command } from 'commander';
import type { Note, NoteOwner } from '../../finality/note-file.ts';
import type { Config } from '../../node/config/settings.ts';
import type { SetFlags } from '../config-file.ts';
import { CliError, EXIT } from '../terminal/exit.ts';
import { setOption } from './config.ts';
import { heightFrom } from './finality.ts';

export function register(command: Command): void {
  command
    // `--set` after `init` is an option of `init`.
    .enablePositionalOptions()
    .argument('[config]', 'configuration file (HOCON), with signer.socket or signer.host')
    .addOption(setOption())
    .action(async (path: string | undefined, flags: SetFlags) => {
      const { loadConfig } = await import('../config-file.ts');
      const { warn } = await import('../terminal/output.ts');
      const { runSigner } = await import('../signer/run-signer.ts');
      const { config, warnings } = await loadConfig(path, flags);
      for (const warning of warnings) warn(warning);
      await runSigner(config);
    });
  command
    .command('init <config>')
    .description(
      'begin the notes of what the key of owner-address has signed; once, on the machine of the signer, after the ' +
        'node has stopped that had the key',
    )
    .option('--new', 'the key has never voted; for one that has, this is a lie')
    .option('--after <height>', 'the key has voted for no block above it', heightFrom)
    .option('--note <file>', 'the finality-note of the node that had the key')
    .addOption(setOption())
    .action(init);
}

interface InitFlags extends SetFlags {
  readonly new?: true;
  readonly after?: number;
  readonly note?: string;
}

async function init(path: string, flags: InitFlags): Promise<void> {
  const given = [flags.new, flags.after, flags.note].filter((flag) => flag !== undefined);
  if (given.length !== 1) {
    throw new CliError('say what the key has signed: --new, --after or --note', EXIT.usage);
  }
  const { loadConfig } = await import('../config-file.ts');
  const { printJson } = await import('../terminal/output.ts');
  const { lockSigner, signerFolder } = await import('../signer/run-signer.ts');
  const { config } = await loadConfig(path, flags);
  const lock = await lockSigner(config);
  try {
    const from = await writeNotes(config, flags);
    printJson({ notes: signerFolder(config), blocksAfter: from });
  } finally {
    await lock.release();
  }
}

/** Returns the time after which blocks are signed. */
async function writeNotes(config: Config, flags: InitFlags): Promise<number> {
  const { files } = await import('../../adapters/files.ts');
  const { encodeNote } = await import('../../finality/note-file.ts');
  const { blockNoteFrom, encodeBlockNote } = await import('../../signer/block-note.ts');
  const { cryptographyOfConfig } = await import('../cryptography.ts');
  const { blockNotePath, voteNotePath } = await import('../signer/run-signer.ts');
  const { scheme } = cryptographyOfConfig(config);
  const [blocks, votes] = [blockNotePath(config), voteNotePath(config)];
  for (const note of [blocks, votes]) {
    // An older one would forget what was signed since.
    if (files.exists(note)) throw new CliError(`'${note}' exists already`);
  }
  const owner = await noteOwner(config);
  const note = await firstNote(flags, owner, scheme);
  const { roundDuration, syncDuration } = config.blockchain.consensus;
  // The node may have used the round that goes on.
  const from = Date.now() + roundDuration.ms + syncDuration.ms;
  files.replace(votes, encodeNote(note, owner, scheme), { secret: true });
  files.replace(blocks, encodeBlockNote(blockNoteFrom(from), owner, scheme), { secret: true });
  return from;
}

async function noteOwner(config: Config): Promise<NoteOwner> {
  const { headerHash } = await import('../../block/header.ts');
  const { equal } = await import('../../base/bytes.ts');
  const { cryptographyOfConfig } = await import('../cryptography.ts');
  const { genesisBlock } = await import('../genesis-block.ts');
  const { openNodeWallet } = await import('./keystore/open-wallet.ts');
  const { scheme } = cryptographyOfConfig(config);
  const genesis = headerHash(genesisBlock(config).header, scheme);
  const keystore = await openNodeWallet(config);
  try {
    const address = scheme.addressFromText(config.ownerAddress);
    const account = keystore.accounts().find((one) => equal(one.address, address));
    if (account !== undefined) return { genesis, voter: account.publicKey };
    throw new CliError(`owner-address '${config.ownerAddress}' is not in the keystore`);
  } finally {
    keystore.close();
  }
}

async function firstNote(
  { after, note }: InitFlags,
  owner: NoteOwner,
  scheme: import('../../codec/codec.ts').ChainScheme,
): Promise<Note> {
  const { files } = await import('../../adapters/files.ts');
  const { FIRST_NOTE, readNote } = await import('../../finality/note-file.ts');
  if (after !== undefined) return { link: { source: after, target: after }, vote: undefined };
  if (note === undefined) return FIRST_NOTE;
  const found = readNote({ read: () => files.read(note) }, note, owner, scheme);
  if (found === undefined) throw new CliError(`'${note}' does not exist`);
  return found;
}
