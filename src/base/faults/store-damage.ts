/**
 * The bytes on disk are not what the store wrote. Neither a peer nor a client is to blame. The work
 * that meets it ends with this error, and the node stops; it rebuilds its chain at the next start.
 */
export class StoreCorruptError extends Error {
  override name = 'StoreCorruptError';

  constructor(folder: string, why: string, cause?: unknown) {
    super(`the store in ${folder} is damaged: ${why}`, { cause });
  }
}
