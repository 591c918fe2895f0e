/** Remembers whether a journal works, for /health, the metrics and the miner. */
import { JournalBrokenError } from '../base/faults/journal-broken.ts';
import { JournalFullError } from '../base/faults/journal-full.ts';
import type { Journal } from '../base/ports/journal.ts';

export interface WatchedJournal {
  readonly journal: Journal;
  /** Why the last record could not be written; undefined while the journal works. */
  problem(): string | undefined;
  /** The same where no record can be written before the next start. */
  outage(): string | undefined;
}

/** `content`: what the journal holds, as a message names it. */
export function watchJournal(inner: Journal, content: string): WatchedJournal {
  let problem: string | undefined;
  let isBroken = false;
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
    isBroken = cause instanceof JournalBrokenError;
    const restart = isBroken ? ' before a restart' : '';
    problem = `${content} cannot be written to disk${restart}: ${String(cause)}`;
  }

  return {
    journal: {
      recovered: inner.recovered,
      append: (record, isNeeded) => watched(inner.append(record, isNeeded)),
      rewrite: (records) => watched(inner.rewrite(records)),
      close: () => inner.close(),
    },
    problem: () => problem,
    outage: () => (isBroken ? problem : undefined),
  };
}
