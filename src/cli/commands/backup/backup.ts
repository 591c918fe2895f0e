/** `platform-node backup create|verify|restore` (docs/guide/operations.md). */
import type { Command } from 'commander';
import { setOption } from '../config.ts';
import type { CreateFlags } from './create-backup.ts';
import type { RestoreFlags } from './restore-backup.ts';

export function register(command: Command): void {
  command
    .command('create <config> <folder>')
    .description(
      'Copy the chain of a node, which may be running, its configuration and what that includes into a new ' +
        'folder, with a manifest. The configuration may have passwords.',
    )
    .option('--with-keystore', 'the keystore too, which its password protects')
    .addOption(setOption())
    .action(create);
  command
    .command('verify <folder>')
    .description('Compare the files of a backup with its manifest.')
    .action(verify);
  command
    .command('restore <folder> <config>')
    .description(
      'Put the chain of a backup in the place of a configuration, where there is none, and the keystore ' +
        'and files of the configuration where there are none. The node fetches later blocks from its peers.',
    )
    .option('--keep-note', 'the note of the voter is the newest that its key has')
    .addOption(setOption())
    .action(restore);
}

async function create(config: string, folder: string, flags: CreateFlags): Promise<void> {
  const { createBackup } = await import('./create-backup.ts');
  const { printJson } = await import('../../terminal/output.ts');
  const { files, ...facts } = await createBackup(config, folder, flags);
  printJson({ folder, ...facts, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) });
}

async function verify(folder: string): Promise<void> {
  const { verifiedManifest } = await import('./manifest.ts');
  const { printJson } = await import('../../terminal/output.ts');
  const { files, ...facts } = await verifiedManifest(folder);
  printJson({ folder, ...facts, files: files.length });
}

async function restore(folder: string, config: string, flags: RestoreFlags): Promise<void> {
  const { restoreBackup } = await import('./restore-backup.ts');
  const { printJson, say } = await import('../../terminal/output.ts');
  const { manifest, keystore, configuration } = await restoreBackup(folder, config, flags);
  const { height, blockId, stateHash } = manifest;
  printJson({ height, blockId, stateHash, keystore, configuration });
  say(
    'Make sure that no other machine uses the keys of this node. It fetches the blocks above ' +
      `${height} from its peers; as a voter it votes again once a block is final that lies far enough above`,
  );
}
