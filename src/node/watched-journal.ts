/** Remembers whether the journal of the pool works, for /health and the metrics. */
import { JournalFullError } from '../base/faults/journal-full.ts';
import type { Journal } from '../base/ports/journal.ts';

export interface WatchedJournal {
  readonly journal: Journal;
  /** Why the last record could not be written; undefined while the journal works. */
  problem(): string | undefined;
}

export function watchJournal(inner: Journal): WatchedJournal {
  let problem: string | undefined;
  let latest: Promise<void> | undefined;

  /** Records that are written together share a promise. */
  function watched(write: Promise<void>): Promise<void> {
    if (write !== latest) {
      latest = write;
      write.then(worked, failed);
    }
    return write;
  }

  function worked(): void {
    problem = undefined;
  }

  function failed(cause: unknown): void {
    // Too much work at a time is not a fault of the disk.
    if (cause instanceof JournalFullError) return;
    problem = `the pool cannot be written to disk: ${String(cause)}`;
  }

  return {
    journal: {
      recovered: inner.recovered,
      append: (record, isNeeded) => watched(inner.append(record, isNeeded)),
      rewrite: (records) => watched(inner.rewrite(records)),
      close: () => inner.close(),
    },
    problem: () => problem,
  };
}
