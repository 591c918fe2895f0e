/** Opens the storage of confidential data that a configuration names (privacy.md#storage). */
import type { Shelf } from '../../adapters/private-store/shelf.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { Log } from '../../base/ports/log.ts';
import type { PrivateStore } from '../../base/ports/private-store.ts';
import type { Config } from '../../node/config/settings.ts';

type StorageSettings = Config['privacy']['storage'];

/**
 * Undefined with vendor none. Throws StartError where the storage is unreachable, so that an
 * operator learns of it at the start and not with the first item.
 */
export async function openPrivateStore(
  { privacy: { storage } }: Config,
  log: Log,
): Promise<PrivateStore | undefined> {
  if (storage.vendor === 'none') return undefined;
  const { verifiedStore } = await import('../../adapters/private-store/verified.ts');
  try {
    return verifiedStore(await shelfOf(storage), log);
  } catch (cause) {
    const where = storage.vendor === 'file' ? 'directory' : 'url';
    throw new StartError(
      `storage of confidential data (vendor ${storage.vendor})`,
      `privacy.storage.${where}`,
      cause,
      'make it available, or choose another privacy.storage.vendor',
    );
  }
}

/**
 * Loads only the libraries of the vendor; config/checks.ts has checked that its settings are
 * complete.
 */
async function shelfOf(storage: StorageSettings): Promise<Shelf> {
  if (storage.vendor === 'postgres') {
    const { postgresShelf } = await import('../../adapters/private-store/postgres.ts');
    return postgresShelf({ ...storage, url: storage.url! });
  }
  if (storage.vendor === 's3') {
    const { s3Shelf } = await import('../../adapters/private-store/s3.ts');
    const { url, bucket, accessKeyId, secretAccessKey, region } = storage;
    const keys = { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey! };
    return s3Shelf({ url: url!, bucket: bucket!, region, ...keys });
  }
  const { filesShelf } = await import('../../adapters/private-store/files-shelf.ts');
  return filesShelf(storage.directory);
}
