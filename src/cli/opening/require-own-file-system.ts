/** Whether a folder may hold what only one process may write. */
import { type FileSystem, fileSystemOf } from '../../adapters/shared-folders/file-systems.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { Config } from '../../node/config/settings.ts';

/**
 * The name of a file system that other machines may have too, where it is taken nevertheless. Throws
 * StartError. `found`: for tests.
 */
export function requireOwnFileSystem(
  { storage }: Pick<Config, 'storage'>,
  folder: string,
  key: 'data-directory' | 'directory' = 'data-directory',
  found: FileSystem = fileSystemOf(folder),
): string | undefined {
  const { isShared, name } = found;
  if (isShared === 'no') return undefined;
  if (isShared === 'perhaps' || storage.allowNetworkFileSystem) return name;
  const why = `it is on ${name}, where locks do not keep another machine from writing, or from signing with the same key`;
  const remedy =
    'choose a folder on a disk of this machine; where no other machine can have it, set storage.allow-network-file-system = yes';
  throw new StartError(`folder ${folder}`, key, new Error(why), remedy);
}
