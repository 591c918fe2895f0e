/** Room for a copy, before it is made. */
import { statSync } from 'node:fs';
import { diskSpace } from '../../../adapters/system.ts';
import type { Config } from '../../../node/config/settings.ts';
import { CliError } from '../../terminal/exit.ts';

/**
 * Throws CliError where the disk of a folder has no room for so many bytes. On the disk of the node
 * they must leave `storage.free-space-min`, without which the node makes no blocks.
 */
export async function requireSpace(
  { dataDirectory, storage }: Pick<Config, 'dataDirectory' | 'storage'>,
  folder: string,
  bytes: number,
): Promise<void> {
  const isOfNode = statSync(folder).dev === statSync(dataDirectory).dev;
  const reserve = isOfNode ? storage.freeSpaceMin : 0;
  const free = await diskSpace(folder).freeBytes();
  if (free >= bytes + reserve) return;
  const rest = reserve === 0 ? '' : `, beside the ${reserve} bytes of storage.free-space-min`;
  throw new CliError(
    `the copy needs ${bytes} bytes in '${folder}'${rest}, where ${free} bytes are free: make room`,
  );
}
