/** Keeps the journal of the pool about as large as the pool. */
import type { Journal } from '../../base/ports/journal.ts';
import type { Log } from '../../base/ports/log.ts';
import type { PoolEntry } from '../entries/entry.ts';
import type { Entries } from '../entries/pool-entries.ts';
import { orderRecords } from './return-order.ts';

const SLACK_BYTES = 8 * 1024 * 1024;

/** The records that the journal must hold in addition to the entries. */
export interface BesideEntries {
  /** Those that were there before the entries: of two with one id, the later one counts. */
  older(): readonly Uint8Array[];
  underWay(): readonly Uint8Array[];
  /** The ids of all that is in doubt, as Latin-1 texts in its order (return-order.ts). */
  order(): readonly string[];
}

function* recordsOf(
  older: readonly Uint8Array[],
  waiting: readonly PoolEntry[],
  more: readonly Uint8Array[],
  order: readonly string[],
): Generator<Uint8Array> {
  yield* older;
  for (const { bytes } of waiting) yield bytes;
  yield* more;
  yield* orderRecords(order);
}

export interface JournalSize {
  /** Rewrites the journal once more bytes have left the pool than are still in it. */
  trim(): Promise<void>;
  /** Leaves the records of the entries and those under way. False where that failed. */
  rewrite(): Promise<boolean>;
}

export function watchJournalSize(
  journal: Journal,
  entries: Entries,
  { older, underWay, order }: BesideEntries,
  log: Log,
): JournalSize {
  let leftBytes = 0;
  entries.listen({
    removed({ size }) {
      leftBytes += size;
    },
  });
  async function rewrite(): Promise<boolean> {
    const before = leftBytes;
    leftBytes = 0;
    try {
      await journal.rewrite(recordsOf(older(), [...entries.inOrder()], underWay(), order()));
      return true;
    } catch (cause) {
      // The old file still holds all that was promised, and the next block tries again.
      leftBytes += before;
      log.error('pool.journal-failed', { why: String(cause) });
      return false;
    }
  }
  return {
    rewrite,
    async trim() {
      if (leftBytes >= SLACK_BYTES && leftBytes >= entries.bytes) await rewrite();
    },
  };
}
