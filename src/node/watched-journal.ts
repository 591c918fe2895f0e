/** Remembers whether the journal of the pool works, for /health and the metrics. */
import { JournalFullError } from '../base/journal-full.ts';
import type { Journal } from '../base/ports.ts';

export interface WatchedJournal {
  readonly journal: Journal;
  /** Why the last record could not be written; undefined while the journal works. */
  problem(): string | undefined;
}

export function watchJournal(inner: Journal): WatchedJournal {
  let problem: string | undefined;
  async function watched(write: Promise<void>): Promise<void> {
    try {
      await write;
      problem = undefined;
    } catch (cause) {
      // Too much work at a time is not a fault of the disk.
      const isOverload = cause instanceof JournalFullError;
      if (!isOverload) problem = `the pool cannot be written to disk: ${String(cause)}`;
      throw cause;
    }
  }
  return {
    journal: {
      recovered: inner.recovered,
      append: (record) => watched(inner.append(record)),
      rewrite: (records) => watched(inner.rewrite(records)),
      close: () => inner.close(),
    },
    problem: () => problem,
  };
}
