/** `platform-node finality init`: the note of a voter (finality.md#notes). */
import type { Command } from 'commander';
import { CliError } from '../terminal/exit.ts';
import { withChain } from './chain/chain.ts';
import { setOption } from './config.ts';

interface Flags {
  readonly set?: string[];
}

export function register(command: Command): void {
  command
    .command('init <config>')
    .description(
      'say that the key of this node has never voted on blocks of its network, so that it begins to; ' +
        'for a key that may have voted this is a lie, which can make two blocks final',
    )
    .addOption(setOption())
    .action(init);
}

async function init(path: string, flags: Flags) {
  const { files } = await import('../../adapters/files.ts');
  const { headerHash } = await import('../../block/header.ts');
  const { headerRowAt } = await import('../../chain/store/stored-blocks.ts');
  const { encodeNote, FIRST_NOTE } = await import('../../finality/note-file.ts');
  const { participantOf } = await import('../../ledger/participants.ts');
  const { notePath } = await import('../../node/voter-note.ts');
  const { printJson } = await import('../terminal/output.ts');
  await withChain(path, flags, async ({ view }, { config }) => {
    const { scheme } = view;
    const note = notePath(config);
    // An empty one says that this key has voted elsewhere: a second first note would make it a liar.
    if (files.read(note) !== undefined) throw new CliError(`'${note}' exists already`);
    const owner = participantOf(view, scheme.addressFromText(config.ownerAddress));
    if (owner === undefined) {
      throw new CliError('the owner is no participant of this chain, so its key is not known');
    }
    const genesis = headerHash(headerRowAt(view, 1)!.header, scheme);
    const bytes = encodeNote(FIRST_NOTE, { genesis, voter: owner.publicKey }, scheme);
    files.replace(note, bytes, { secret: true });
    printJson({ note });
  });
}
