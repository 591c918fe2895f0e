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

/**
 * Returns a function that rewrites the journal once more bytes have left the pool than are still in
 * it. `underWay` are the records that the journal must hold in addition to the entries.
 */
export function watchJournalSize(
  journal: Journal,
  entries: Entries,
  underWay: () => readonly Uint8Array[],
  log: Log,
): () => Promise<void> {
  let leftBytes = 0;
  entries.listen({
    removed({ size }) {
      leftBytes += size;
    },
  });
  return async () => {
    if (leftBytes < SLACK_BYTES || leftBytes < entries.bytes) return;
    leftBytes = 0;
    try {
      await journal.rewrite(recordsOf([...entries.inOrder()], underWay()));
    } catch (cause) {
      // The old file still holds all that was promised, and the next block tries again.
      log.error('pool.journal-failed', { why: String(cause) });
    }
  };
}
