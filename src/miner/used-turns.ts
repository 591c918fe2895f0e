/**
 * Turns in which this node has signed a block, or was about to: two blocks in one turn would be
 * evidence against it, and the first may have left the node just before a crash.
 *
 * Invariants: a turn is on disk before the claim to it resolves, so before the signature; it is
 * claimed once, over all restarts. Not only the last one is kept: a clock that was ahead has used
 * turns that are still to come, and those before them are good.
 */
import { fromUtf8, utf8 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { Journal, Log } from '../base/ports.ts';

export interface UsedTurns {
  has(turn: string): boolean;
  /** Throws ApiError where the turn is used already or cannot be noted. */
  claim(turn: string): Promise<void>;
}

/** More than one node has in a day of rounds of a minute. */
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
        // Whether it is on disk is unknown, so it stays used; nothing was signed.
        log.error('miner.note-failed', { turn, why: String(cause) });
        throw apiError('StatusCheckFailed', 'the turn of the miner cannot be noted on disk');
      }
    },
  };
}
