/** More records wait for the disk than may: the caller answers that the node is overloaded. */
export class JournalFullError extends Error {
  override name = 'JournalFullError';
}
