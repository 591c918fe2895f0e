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
import { type ApiError, apiError } from '../base/errors.ts';
import type { Journal } from '../base/ports/journal.ts';
import type { Log } from '../base/ports/log.ts';
import { readRecord, recordOf, type SealedBlock, type SlotEvent } from './slot-records.ts';

/** More turns than one node has in a day of one-minute rounds. */
const SLOTS_MIN = 1_500;
/** Blocks that are no longer kept take this much of the file at most, before it is written anew. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

export class UsedSlots {
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #slotsMax: number;
  /** The newest last. */
  readonly #slots = new Set<string>();
  /** Blocks that left the chain, by their turns, oldest first. */
  readonly #lost = new Map<string, SealedBlock>();
  #newest: SealedBlock | undefined;
  /** The block whose signature was asked for last and is not there. */
  #asked: SealedBlock | undefined;
  #isAskNoted = true;
  /** The newest block is on disk. */
  #isNoted = true;
  #sealedHere: string | undefined;
  #records: number;
  #bytes: number;

  /** `rollbackDepth`: the number of blocks that can leave the chain, whose turns must be known then. */
  constructor(journal: Journal, log: Log, rollbackDepth = 0) {
    this.#journal = journal;
    this.#log = log;
    this.#slotsMax = Math.max(SLOTS_MIN, rollbackDepth);
    for (const record of journal.recovered) this.#apply(readRecord(record));
    this.#records = journal.recovered.length;
    this.#bytes = sizeOf(journal.recovered);
  }

  has(turn: string): boolean {
    return this.#slots.has(turn);
  }

  /**
   * Throws ApiError where the turn belongs to another block, or where it cannot be recorded. After a
   * failure it may be called again with the same block.
   */
  async claim(turn: string, block: Uint8Array): Promise<void> {
    const own = this.#newest?.turn === turn ? this.#newest : this.#lost.get(turn);
    const isAgain = own !== undefined && equal(own.bytes, block);
    if (isAgain && (own !== this.#newest || this.#isNoted)) return;
    if (this.#slots.has(turn) && !isAgain) {
      throw used(turn);
    }
    // Whether a record that failed is on disk is unknown, so the turn stays that of this block.
    const event = { kind: 'sealed' as const, turn, bytes: isAgain ? own.bytes : block.slice() };
    this.#apply(event);
    if (!isAgain) this.#sealedHere = turn;
    this.#isNoted = false;
    await this.#noteOrRefuse(event);
    this.#isNoted = true;
  }

  /**
   * Keeps a block before a signer is asked for its signature: the signer may note it, and its answer be
   * lost, and then it signs no other block of the turn. Throws ApiError where the turn is used, or where
   * the block cannot be recorded. After a failure it may be called again with the same block.
   */
  async ask(turn: string, block: Uint8Array): Promise<void> {
    const own = this.#asked?.turn === turn ? this.#asked : undefined;
    const isAgain = own !== undefined && equal(own.bytes, block);
    if (isAgain && this.#isAskNoted) return;
    if (this.#slots.has(turn)) throw used(turn);
    const event = { kind: 'asked' as const, turn, bytes: isAgain ? own.bytes : block.slice() };
    if (!isAgain) this.#apply(event);
    this.#isAskNoted = false;
    await this.#noteOrRefuse(event);
    this.#isAskNoted = true;
  }

  /** The block of the newest `ask` whose turn was neither claimed nor freed since. */
  asked(): SealedBlock | undefined {
    return this.#asked;
  }

  /** The blocks that are kept: those that left the chain, then the one that was sealed last. */
  sealed(): readonly SealedBlock[] {
    return [...this.#lost.values(), ...(this.#newest === undefined ? [] : [this.#newest])];
  }

  /** True where this life of the node has sealed the block, and it is still the newest. */
  isOfThisLife(turn: string): boolean {
    return this.#sealedHere === turn && this.#newest?.turn === turn;
  }

  /**
   * Keeps a block of this node that is about to leave the chain. Throws ApiError where it cannot be
   * recorded: then the block must stay in the chain.
   */
  keep({ turn, bytes }: SealedBlock): Promise<void> {
    return this.#record({ kind: 'lost', turn, bytes });
  }

  /** The turn stays used, or becomes so, and its block is not kept. Throws ApiError as `keep`. */
  giveUp(turn: string): Promise<void> {
    return this.#record({ kind: 'used', turn, bytes: NO_BLOCK });
  }

  /** The turn may have another block. Only where nobody can have seen the first. Throws ApiError. */
  free(turn: string): Promise<void> {
    return this.#record({ kind: 'freed', turn, bytes: NO_BLOCK });
  }

  /** The block that left the chain cannot come back: it needs no memory any more. */
  forget(turn: string): void {
    this.#lost.delete(turn);
  }

  async #record(event: SlotEvent): Promise<void> {
    await this.#noteOrRefuse(event);
    this.#apply(event);
  }

  /** The one place in which a record changes what is known, when it is written or read. */
  #apply({ kind, turn, bytes }: SlotEvent): void {
    if (kind === 'asked') {
      this.#asked = { turn, bytes };
      return;
    }
    if (this.#asked?.turn === turn) this.#asked = undefined;
    this.#slots.delete(turn);
    this.#lost.delete(turn);
    if (this.#newest?.turn === turn) this.#newest = undefined;
    if (kind !== 'freed') this.#slots.add(turn);
    if (kind === 'sealed') this.#newest = { turn, bytes };
    if (kind === 'lost') this.#lost.set(turn, { turn, bytes });
    for (const oldest of this.#slots) {
      if (this.#slots.size <= this.#slotsMax) break;
      this.#slots.delete(oldest);
      this.#lost.delete(oldest);
    }
  }

  /** Throws ApiError. */
  async #noteOrRefuse(event: SlotEvent): Promise<void> {
    try {
      await this.#note(event);
    } catch (cause) {
      // What is on disk is unknown, so the claim of its block is written again before it is used.
      if (this.#newest?.turn === event.turn) this.#isNoted = false;
      this.#log.error('miner.note-failed', { turn: event.turn, why: String(cause) });
      throw apiError('StatusCheckFailed', 'the block of the miner cannot be noted on disk');
    }
  }

  async #note(event: SlotEvent): Promise<void> {
    const record = recordOf(event);
    const kept = sizeOf(Array.from(this.#lost.values(), ({ bytes }) => bytes));
    const isRoom = this.#bytes + record.length <= FILE_BYTES_MAX + 2 * kept;
    if (this.#records < 2 * this.#slotsMax && isRoom) {
      await this.#journal.append(record);
      this.#records += 1;
      this.#bytes += record.length;
      return;
    }
    const others = this.#stateRecords().filter(({ turn }) => turn !== event.turn);
    const all = [...others, event].map(recordOf);
    await this.#journal.rewrite(all);
    this.#records = all.length;
    this.#bytes = sizeOf(all);
  }

  #stateRecords(): SlotEvent[] {
    const [newest, asked] = [this.#newest, this.#asked];
    return [
      ...Array.from(this.#slots, (turn) => ({ kind: 'used' as const, turn, bytes: NO_BLOCK })),
      ...Array.from(this.#lost.values(), (one) => ({ kind: 'lost' as const, ...one })),
      ...(newest === undefined ? [] : [{ kind: 'sealed' as const, ...newest }]),
      ...(asked === undefined ? [] : [{ kind: 'asked' as const, ...asked }]),
    ];
  }
}

const NO_BLOCK = new Uint8Array(0);

const used = (turn: string): ApiError =>
  apiError('Invalid', `This node has used its turn: ${turn}`);

const sizeOf = (records: readonly Uint8Array[]): number =>
  records.reduce((sum, record) => sum + record.length, 0);
