/**
 * The turns in which this node has sealed a block, with the blocks that may still have to come into
 * the chain: the newest, and those that left the chain. Two blocks in one turn would be evidence of
 * equivocation, and the first may have left the node just before a crash.
 *
 * Invariants: a turn and its block are on disk, in one record, before the claim resolves, and so
 * before the block leaves this node; each turn belongs to one block, over all restarts, unless it was
 * freed. Many turns are kept, and not only the last one: a clock that was ahead has used later turns,
 * and the turns before those are still free.
 */
import { equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { Journal, Log } from '../base/ports.ts';
import { readRecord, recordOf, type SealedBlock, type SlotEvent } from './slot-records.ts';

export interface UsedSlots {
  has(turn: string): boolean;
  /**
   * Throws ApiError where the turn belongs to another block, or where it cannot be recorded. After a
   * failure it may be called again with the same block.
   */
  claim(turn: string, block: Uint8Array): Promise<void>;
  /** The blocks that are kept: those that left the chain, then the one that was sealed last. */
  sealed(): readonly SealedBlock[];
  /** True where this life of the node has sealed the block, and it is still the newest. */
  isOfThisLife(turn: string): boolean;
  /**
   * Keeps a block of this node that is about to leave the chain. Throws ApiError where it cannot be
   * recorded: then the block must stay in the chain.
   */
  keep(sealed: SealedBlock): Promise<void>;
  /** The turn stays used, or becomes so, and its block is not kept. Throws ApiError as `keep`. */
  giveUp(turn: string): Promise<void>;
  /** The turn may have another block. Only where nobody can have seen the first. Throws ApiError. */
  free(turn: string): Promise<void>;
  /** The block that left the chain cannot come back: it needs no memory any more. */
  forget(turn: string): void;
}

/** More turns than one node has in a day of one-minute rounds. */
const SLOTS_MIN = 1_500;
/** Blocks that are no longer kept take this much of the file at most, before it is written anew. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** `rollbackDepth`: the number of blocks that can leave the chain, whose turns must be known then. */
export function createUsedSlots(journal: Journal, log: Log, rollbackDepth = 0): UsedSlots {
  const slotsMax = Math.max(SLOTS_MIN, rollbackDepth);
  /** The newest last. */
  const slots = new Set<string>();
  /** Blocks that left the chain, by their turns, oldest first. */
  const lost = new Map<string, SealedBlock>();
  let newest: SealedBlock | undefined;
  for (const record of journal.recovered) apply(readRecord(record));
  /** The newest block is on disk. */
  let isNoted = true;
  let sealedHere: string | undefined;
  let records = journal.recovered.length;
  let bytes = sizeOf(journal.recovered);

  /** The one place in which a record changes what is known, when it is written or read. */
  function apply({ kind, turn, bytes: block }: SlotEvent): void {
    slots.delete(turn);
    lost.delete(turn);
    if (newest?.turn === turn) newest = undefined;
    if (kind !== 'freed') slots.add(turn);
    const sealed = { turn, bytes: block };
    if (kind === 'sealed') newest = sealed;
    if (kind === 'lost') lost.set(turn, sealed);
    for (const oldest of slots) {
      if (slots.size <= slotsMax) break;
      slots.delete(oldest);
      lost.delete(oldest);
    }
  }

  async function note(event: SlotEvent): Promise<void> {
    const record = recordOf(event);
    const kept = [...lost.values()].reduce((sum, one) => sum + one.bytes.length, 0);
    if (records < 2 * slotsMax && bytes + record.length <= FILE_BYTES_MAX + 2 * kept) {
      await journal.append(record);
      records += 1;
      bytes += record.length;
      return;
    }
    const all = [...stateRecords().filter(({ turn }) => turn !== event.turn), event].map(recordOf);
    await journal.rewrite(all);
    records = all.length;
    bytes = sizeOf(all);
  }

  function stateRecords(): SlotEvent[] {
    return [
      ...Array.from(slots, (turn) => ({ kind: 'used' as const, turn, bytes: NO_BLOCK })),
      ...Array.from(lost.values(), (one) => ({ kind: 'lost' as const, ...one })),
      ...(newest === undefined ? [] : [{ kind: 'sealed' as const, ...newest }]),
    ];
  }

  /** Throws ApiError. */
  async function noteOrRefuse(event: SlotEvent): Promise<void> {
    try {
      await note(event);
    } catch (cause) {
      // What is on disk is unknown, so the claim of its block is written again before it is used.
      if (newest?.turn === event.turn) isNoted = false;
      log.error('miner.note-failed', { turn: event.turn, why: String(cause) });
      throw apiError('StatusCheckFailed', 'the block of the miner cannot be noted on disk');
    }
  }

  const blockOf = (turn: string): SealedBlock | undefined =>
    newest?.turn === turn ? newest : lost.get(turn);

  return {
    has: (turn) => slots.has(turn),
    async claim(turn, block) {
      const own = blockOf(turn);
      const isAgain = own !== undefined && equal(own.bytes, block);
      if (isAgain && (own !== newest || isNoted)) return;
      if (slots.has(turn) && !isAgain) {
        throw apiError('Invalid', `This node has used its turn: ${turn}`);
      }
      // Whether a record that failed is on disk is unknown, so the turn stays that of this block.
      const event = { kind: 'sealed' as const, turn, bytes: isAgain ? own.bytes : block.slice() };
      apply(event);
      if (!isAgain) sealedHere = turn;
      isNoted = false;
      await noteOrRefuse(event);
      isNoted = true;
    },
    sealed: () => [...lost.values(), ...(newest === undefined ? [] : [newest])],
    isOfThisLife: (turn) => sealedHere === turn && newest?.turn === turn,
    async keep({ turn, bytes: block }) {
      const event = { kind: 'lost' as const, turn, bytes: block };
      await noteOrRefuse(event);
      apply(event);
    },
    async giveUp(turn) {
      const event = { kind: 'used' as const, turn, bytes: NO_BLOCK };
      await noteOrRefuse(event);
      apply(event);
    },
    async free(turn) {
      const event = { kind: 'freed' as const, turn, bytes: NO_BLOCK };
      await noteOrRefuse(event);
      apply(event);
    },
    forget: (turn) => void lost.delete(turn),
  };
}

const NO_BLOCK = new Uint8Array(0);

const sizeOf = (records: readonly Uint8Array[]): number =>
  records.reduce((sum, record) => sum + record.length, 0);
