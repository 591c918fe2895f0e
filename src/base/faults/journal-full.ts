/** Too many records wait for the disk; the caller answers that the node is overloaded. */
export class JournalFullError extends Error {
  override name = 'JournalFullError';
}

/** The file has no room for the record; a rewrite leaves out what nobody needs any more. */
export class JournalTooLongError extends Error {
  override name = 'JournalTooLongError';
}
