/** Fills a block from the pool, oldest first (protocol.md §7). */
import { ApiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Pool } from './pool.ts';

export interface PackLimits {
  /** Bytes of all transactions. */
  readonly bytesMax: number;
  readonly countMax: number;
}

/**
 * Hands entries to `add` in order; what it refuses leaves the pool with that reason, what does not
 * fit stays. Ends when nothing more would fit.
 */
export async function pack(
  pool: Pool,
  limits: PackLimits,
  add: (tx: Tx) => void,
  clock: Clock,
): Promise<void> {
  let bytes = 0;
  let count = 0;
  const turns = createTurns(clock);
  // The pool's order changes with every arrival during a turn, so the walk is over a copy.
  for (const entry of [...pool.inOrder()]) {
    if (count >= limits.countMax || bytes + SMALLEST_BYTES > limits.bytesMax) return;
    if (entry.removed || bytes + entry.bytes.length > limits.bytesMax) continue;
    try {
      add(pool.decode(entry));
      bytes += entry.bytes.length;
      count++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      pool.drop(entry, error);
    }
    if (turns.due()) await turns.take();
  }
}

/** No transaction of any type is shorter. */
const SMALLEST_BYTES = 100;
