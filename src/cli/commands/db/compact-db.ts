/** Writes the store of a stopped node anew without its free pages. */
import { StoreLockedError } from '../../../adapters/folder-lock.ts';
import { type Compacted, compactStore } from '../../../adapters/lmdb/compact.ts';
import { StoreCorruptError } from '../../../base/faults/store-damage.ts';
import { tables } from '../../../ledger/tables.ts';
import { loadConfig, type SetFlags } from '../../config-file.ts';
import { requireOwnFileSystem } from '../../opening/require-own-file-system.ts';
import { CliError, lockedBy } from '../../terminal/exit.ts';
import { chainFolder } from '../chain/chain-store.ts';
import { requireSpace } from './require-space.ts';

export async function compactDb(path: string, flags: SetFlags): Promise<Compacted> {
  const { config } = await loadConfig(path, flags);
  const folder = chainFolder(config);
  requireOwnFileSystem(config, folder);
  const room = (bytes: number): Promise<void> => requireSpace(config, folder, bytes);
  return compactStore({ folder, tables }, room).catch((cause: unknown) => {
    if (cause instanceof StoreLockedError) throw lockedBy(cause);
    throw cause instanceof StoreCorruptError
      ? new CliError(`${cause.message}: start the node, which repairs it`)
      : cause;
  });
}
