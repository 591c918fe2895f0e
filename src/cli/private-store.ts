/** The storage of confidential data that a configuration asks for (protocol.md §9.3). */
import type { Shelf } from '../adapters/private-shelf.ts';
import type { Log } from '../base/ports.ts';
import type { PrivateStore } from '../base/private-store.ts';
import type { Config } from '../node/config/settings.ts';
import { CliError } from './exit.ts';

type StorageSettings = Config['privacy']['storage'];

/**
 * Undefined with vendor none. Throws CliError where the storage is not there: whoever keeps data
 * for others should hear of it at the start and not with the first item.
 */
export async function openPrivateStore(
  { privacy: { storage } }: Config,
  log: Log,
): Promise<PrivateStore | undefined> {
  if (storage.vendor === 'none') return undefined;
  const { verifiedStore } = await import('../adapters/private-verified.ts');
  try {
    return verifiedStore(await shelfOf(storage), log);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(`privacy.storage (vendor ${storage.vendor}) cannot be used: ${why}`);
  }
}

/** Loads the vendor's own libraries and no others; its settings are complete (config/checks.ts). */
async function shelfOf(storage: StorageSettings): Promise<Shelf> {
  if (storage.vendor === 'postgres') {
    const { postgresShelf } = await import('../adapters/private-postgres.ts');
    return postgresShelf({ ...storage, url: storage.url! });
  }
  if (storage.vendor === 's3') {
    const { s3Shelf } = await import('../adapters/private-s3.ts');
    const { url, bucket, accessKeyId, secretAccessKey, region } = storage;
    const keys = { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey! };
    return s3Shelf({ url: url!, bucket: bucket!, region, ...keys });
  }
  const { filesShelf } = await import('../adapters/private-files.ts');
  return filesShelf(storage.directory);
}
