/** Too many records wait for the disk; the caller answers that the node is overloaded. */
export class JournalFullError extends Error {
  override name = 'JournalFullError';
}
