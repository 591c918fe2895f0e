/** Puts the keystore of a backup where there is none. */
import { existsSync, readdirSync, realpathSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { giveTo, missingFolders, type Owner } from '../../../adapters/file-owner.ts';
import { files } from '../../../adapters/files.ts';
import { makeFolder, syncFolder } from '../../../adapters/folders.ts';
import type { Config } from '../../../node/config/settings.ts';
import { CliError } from '../../terminal/exit.ts';
import { temporaryFolder } from '../../terminal/temporary-folder.ts';
import { KEYSTORE, type Manifest } from './manifest.ts';

export interface StagedKeystore {
  readonly state: 'restored' | 'kept' | 'not in the backup';
  /** All files appear at once. */
  place(): void;
  discard(): void;
}

/** Existing keys stay. Root gives new ones to `owner`. Throws CliError where a folder has other files. */
export function stageKeystore(
  { files: list }: Manifest,
  from: string,
  { wallet: { file }, platformCrypto }: Config,
  owner: Owner,
): StagedKeystore {
  const keys = list.filter(({ name }) => name.startsWith(`${KEYSTORE}/`));
  if (keys.length === 0) return nothing('not in the backup');
  if (hasAccounts(file)) return nothing('kept');
  const read = (name: string): Uint8Array => files.read(join(from, name)) ?? new Uint8Array(0);
  if (platformCrypto) {
    const bytes = read(keys[0]!.name);
    const place = (): void => {
      const isNew = !existsSync(file);
      makeGiven(dirname(file), owner);
      files.replace(file, bytes, { secret: true });
      if (isNew) giveTo(owner, file);
    };
    return { state: 'restored', place, discard() {} };
  }
  if (existsSync(file) && readdirSync(file).length > 0) {
    throw new CliError(`'${file}' has other files than keys: move it away`);
  }
  // A link stays, and so does what it names.
  const folder = existsSync(file) ? realpathSync(file) : file;
  makeGiven(dirname(folder), owner);
  const part = temporaryFolder(`${folder}.part-`);
  try {
    for (const { name } of keys) {
      const path = join(part.path, basename(name));
      files.replace(path, read(name), { secret: true });
      giveTo(owner, path);
    }
    giveTo(owner, part.path);
  } catch (cause) {
    part.remove();
    throw cause;
  }
  const place = (): void => {
    renameSync(part.path, folder);
    syncFolder(dirname(folder));
  };
  return { state: 'restored', place, discard: part.remove };
}

function makeGiven(folder: string, owner: Owner): void {
  const made = missingFolders(folder);
  makeFolder(folder, 0o700);
  for (const path of made) giveTo(owner, path);
}

const nothing = (state: StagedKeystore['state']): StagedKeystore => ({
  state,
  place() {},
  discard() {},
});

const hasAccounts = (path: string): boolean =>
  files.isDirectory(path)
    ? files.list(path).some((name) => name.endsWith('.key'))
    : (files.read(path)?.length ?? 0) > 0;
