/**
 * What is on disk is not what the store wrote. No fault of a peer or a client: a job that meets it
 * ends with this error, and the node stops, since it rebuilds its chain at the next start.
 */
export class StoreCorruptError extends Error {
  override name = 'StoreCorruptError';

  constructor(folder: string, why: string, cause?: unknown) {
    super(`the store in ${folder} is damaged: ${why}`, { cause });
  }
}
