/**
 * The turns in which this node has signed a block or was about to. Two blocks in one turn would be
 * evidence of equivocation, and the first may have left the node just before a crash.
 *
 * Invariants: a turn is on disk before the claim to it resolves, and so before the signature; each
 * turn is claimed once, over all restarts. Many turns are kept, and not only the last one: a clock
 * that was ahead has used later turns, and the turns before those are still free.
 */
import { fromUtf8, utf8 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { Journal, Log } from '../base/ports.ts';

export interface UsedTurns {
  has(turn: string): boolean;
  /** Throws ApiError where the turn is already used or cannot be recorded. */
  claim(turn: string): Promise<void>;
}

/** More turns than one node has in a day of one-minute rounds. */
const KEPT = 1_500;

/** The turns are the records of the journal, the newest last. */
export function createUsedTurns(journal: Journal, log: Log): UsedTurns {
  const noted = journal.recovered.map((record) => fromUtf8(record) ?? '');
  const turns = new Set(noted.slice(-KEPT));
  let records = noted.length;

  async function note(turn: string): Promise<void> {
    records += 1;
    if (records <= 2 * KEPT) return journal.append(utf8(turn));
    await journal.rewrite(Array.from(turns, utf8));
    records = turns.size;
  }

  return {
    has: (turn) => turns.has(turn),
    async claim(turn) {
      if (turns.has(turn)) throw apiError('Invalid', `This node has used its turn: ${turn}`);
      turns.add(turn);
      for (const oldest of turns) {
        if (turns.size <= KEPT) break;
        turns.delete(oldest);
      }
      try {
        await note(turn);
      } catch (cause) {
        // Whether the record is on disk is unknown, so the turn stays used; nothing was signed.
        log.error('miner.note-failed', { turn, why: String(cause) });
        throw apiError('StatusCheckFailed', 'the turn of the miner cannot be noted on disk');
      }
    },
  };
}
