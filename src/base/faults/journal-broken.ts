/** The content of the file is unknown, so the journal takes no more calls; the next start reads it. */
export class JournalBrokenError extends Error {
  override name = 'JournalBrokenError';
}
