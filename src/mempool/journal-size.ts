/** Keeps the journal of the pool about as large as the pool. */
import type { Journal, Log } from '../base/ports.ts';
import type { PoolEntry } from './entry.ts';
import type { Entries } from './pool-entries.ts';

const SLACK_BYTES = 8 * 1024 * 1024;

function* recordsOf(
  waiting: readonly PoolEntry[],
  more: readonly Uint8Array[],
): Generator<Uint8Array> {
  for (const { bytes } of waiting) yield bytes;
  yield* more;
}

export interface JournalSize {
  /** Rewrites the journal once more bytes have left the pool than are still in it. */
  trim(): Promise<void>;
  /** Leaves the records of the entries and those under way. */
  rewrite(): Promise<void>;
}

/** `underWay` are the records that the journal must hold in addition to the entries. */
export function watchJournalSize(
  journal: Journal,
  entries: Entries,
  underWay: () => readonly Uint8Array[],
  log: Log,
): JournalSize {
  let leftBytes = 0;
  entries.listen({
    removed({ size }) {
      leftBytes += size;
    },
  });
  async function rewrite(): Promise<void> {
    leftBytes = 0;
    try {
      await journal.rewrite(recordsOf([...entries.inOrder()], underWay()));
    } catch (cause) {
      // The old file still holds all that was promised, and the next block tries again.
      log.error('pool.journal-failed', { why: String(cause) });
    }
  }
  return {
    rewrite,
    async trim() {
      if (leftBytes >= SLACK_BYTES && leftBytes >= entries.bytes) await rewrite();
    },
  };
}
