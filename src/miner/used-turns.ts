/**
 * The turns in which this node has sealed a block, with the newest of these blocks. Two blocks in one
 * turn would be evidence of equivocation, and the first may have left the node just before a crash.
 *
 * Invariants: a turn and its block are on disk, in one record, before the claim resolves, and so
 * before the block leaves this node; each turn belongs to one block, over all restarts. Many turns
 * are kept, and not only the last one: a clock that was ahead has used later turns, and the turns
 * before those are still free.
 */
import { concat, equal, fromUtf8, utf8 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { Journal, Log } from '../base/ports.ts';

export interface UsedTurns {
  has(turn: string): boolean;
  /**
   * Throws ApiError where the turn belongs to another block, or where it cannot be recorded. After a
   * failure it may be called again with the same block.
   */
  claim(turn: string, block: Uint8Array): Promise<void>;
  /** The block of the turn that was claimed last, as far as it is known. */
  newest(): SealedBlock | undefined;
}

export interface SealedBlock {
  readonly turn: string;
  /** The whole block. */
  readonly bytes: Uint8Array;
}

/** More turns than one node has in a day of one-minute rounds. */
const KEPT = 1_500;
/** The blocks of older turns are of no use, so the file is written anew when they fill this much. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

export function createUsedTurns(journal: Journal, log: Log): UsedTurns {
  const noted = journal.recovered.map(readRecord);
  const turns = new Set(noted.slice(-KEPT).map(({ turn }) => turn));
  const last = noted.at(-1);
  let newest = last?.bytes === undefined ? undefined : { turn: last.turn, bytes: last.bytes };
  /** The newest block is on disk. */
  let isNoted = true;
  let records = noted.length;
  let bytes = journal.recovered.reduce((sum, record) => sum + record.length, 0);

  async function note(sealed: SealedBlock): Promise<void> {
    const record = recordOf(sealed);
    if (records < 2 * KEPT && bytes + record.length <= FILE_BYTES_MAX) {
      await journal.append(record);
      records += 1;
      bytes += record.length;
      return;
    }
    const rest = Array.from(turns).filter((turn) => turn !== sealed.turn);
    const all = [...rest.map(utf8), record];
    await journal.rewrite(all);
    records = all.length;
    bytes = all.reduce((sum, one) => sum + one.length, 0);
  }

  const isOwn = (turn: string, block: Uint8Array): boolean =>
    newest?.turn === turn && equal(newest.bytes, block);

  return {
    has: (turn) => turns.has(turn),
    async claim(turn, block) {
      const isAgain = isOwn(turn, block);
      if (isAgain && isNoted) return;
      if (turns.has(turn) && !isAgain) {
        throw apiError('Invalid', `This node has used its turn: ${turn}`);
      }
      turns.add(turn);
      for (const oldest of turns) {
        if (turns.size <= KEPT) break;
        turns.delete(oldest);
      }
      const sealed = { turn, bytes: block.slice() };
      newest = sealed;
      isNoted = false;
      try {
        await note(sealed);
        isNoted = true;
      } catch (cause) {
        // Whether the record is on disk is unknown, so the turn stays that of this block.
        log.error('miner.note-failed', { turn, why: String(cause) });
        throw apiError('StatusCheckFailed', 'the block of the miner cannot be noted on disk');
      }
    },
    newest: () => newest,
  };
}

/**
 * A record of a turn with its block: u1 1, u1 length of the turn, turn, block. A turn without its
 * block is a record of its text alone, which begins with a letter.
 */
const SEALED = 1;
const HEAD_BYTES = 2;

function recordOf({ turn, bytes }: SealedBlock): Uint8Array {
  const text = utf8(turn);
  return concat(Uint8Array.of(SEALED, text.length), text, bytes);
}

/** What a record says; a client of the first format has noted no block. */
export function readRecord(record: Uint8Array): {
  readonly turn: string;
  readonly bytes: Uint8Array | undefined;
} {
  if (record[0] !== SEALED) return { turn: fromUtf8(record) ?? '', bytes: undefined };
  const end = HEAD_BYTES + (record[1] ?? 0);
  return { turn: fromUtf8(record.subarray(HEAD_BYTES, end)) ?? '', bytes: record.slice(end) };
}
