/**
 * An append-only log of records with group commit: `append` resolves once the record is durable.
 * Incomplete records at the end of a log, left by a crash, are dropped when it is opened; behind
 * damage it goes on with the next whole record.
 */
export interface Journal {
  /**
   * Rejects with JournalFullError, JournalTooLongError, or JournalBrokenError. `isNeeded`: finds room
   * also where those of clients find none.
   */
  append(record: Uint8Array, isNeeded?: boolean): Promise<void>;
  /**
   * Replaces the whole log by these records, atomically. They are read while they are written, so
   * that a long log never lies in memory as a whole.
   */
  rewrite(records: Iterable<Uint8Array>): Promise<void>;
  /** Records found when the journal was opened. */
  readonly recovered: readonly Uint8Array[];
  /** Damaged places found when the journal was opened; absent: none. */
  readonly damagedPlaces?: number;
  close(): Promise<void>;
}
