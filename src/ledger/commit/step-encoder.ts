/**
 * Encodes a step of the chain: the rows, undo records and state hashes of consecutive blocks, and
 * before them the rows that a reorganisation restores.
 *
 * Invariants: previous values come with the overlays and are not read again; a row whose bytes stay
 * the same is neither written nor hashed nor recorded; the order in which rows were set has no
 * influence on any byte.
 */
import { assert } from '../../base/assert.ts';
import type { Store, StoreWrite } from '../../base/ports/store.ts';
import type { RowColumn } from '../../base/row-columns.ts';
import { DIGEST_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, Writer } from '../../codec/codec.ts';
import { inSlices } from '../../concurrency/steps.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import { START_OF_TABLE, u32Key } from '../key-codecs.ts';
import type { KeyedOverlay } from '../overlay.ts';
import { Batch, type PendingWrite } from './batch.ts';
import { encodeRows } from './encode-rows.ts';
import { FIRST_STATE_HASH, writeHashedRow } from './state-hash.ts';
import { writeUndoEntry } from './undo.ts';

/** The writes of one block; its overlay lies on that of the block before, or on the head. */
export interface BlockChanges {
  readonly height: number;
  readonly overlay: KeyedOverlay;
}

/** The state at a lower height, as an overlay on the head: the base for the blocks of a fork. */
export interface Unwound {
  readonly from: number;
  readonly to: number;
  readonly overlay: KeyedOverlay;
}

export interface Step {
  /** Blocks that are rolled back first. */
  readonly unwound?: Unwound | undefined;
  /** Consecutive blocks in ascending order; may be empty after `unwound`. */
  readonly blocks: readonly BlockChanges[];
  /** Encoded rows of local tables, applied last: block index, head of the chain. */
  readonly extra?: Iterable<StoreWrite>;
  /** More of them, made in steps; their tables are not cached (ledger/table.ts). */
  readonly columns?: Generator<undefined, readonly RowColumn[]>;
}

export interface StepEncoderOptions {
  readonly store: Pick<Store, 'get' | 'range'>;
  readonly scheme: ChainScheme;
  /** Number of the table height → undo record. */
  readonly undo: number;
  /** Number of the table height → state hash. */
  readonly stateHashes: number;
  /** The number of blocks that can be rolled back (storage.max-rollback-depth). */
  readonly undoDepth: number;
  /** Divides the encoding of large commits, and the reading of undo records, into pieces. */
  readonly slice: TimeSlice;
}

export interface EncodedStep {
  /** In the order of the store. */
  readonly writes: readonly PendingWrite[];
  /** Applied after `writes`. */
  readonly columns: readonly RowColumn[];
  /** The state hash of each block. */
  readonly hashes: readonly Uint8Array[];
}

export class StepEncoder {
  private readonly options: StepEncoderOptions;
  private readonly values: Writer;
  private readonly undo: Writer;
  private readonly hashed: Writer;

  constructor(options: StepEncoderOptions) {
    this.options = options;
    const { scheme } = options;
    this.values = new Writer(scheme);
    this.undo = new Writer(scheme);
    this.hashed = new Writer(scheme);
  }

  async encode({ unwound, blocks, extra, columns }: Step): Promise<EncodedStep> {
    const { slice } = this.options;
    const batch = new Batch();
    if (unwound !== undefined) await this.takeBack(batch, unwound);
    const base = unwound?.to ?? (blocks[0]?.height ?? 1) - 1;
    const hashes = await this.addBlocks(batch, base, blocks);
    this.prune(batch, base + blocks.length, blocks.length);
    for (const write of extra ?? []) {
      batch.add(write);
      if (slice.isOver()) await slice.yield();
    }
    const writes = await batch.writes(slice);
    return { writes, columns: columns ? await inSlices(columns, slice) : [], hashes };
  }

  private async takeBack(batch: Batch, { overlay, from, to }: Unwound): Promise<void> {
    const { undo, stateHashes, slice } = this.options;
    for (const row of await encodeRows(overlay, this.values, slice)) batch.add(row);
    for (let height = to + 1; height <= from; height++) {
      const key = u32Key.encode(height);
      batch.put(undo, key, undefined);
      batch.put(stateHashes, key, undefined);
    }
  }

  /** Returns their state hashes. */
  private async addBlocks(
    batch: Batch,
    base: number,
    blocks: readonly BlockChanges[],
  ): Promise<Uint8Array[]> {
    const { undo, stateHashes, undoDepth } = this.options;
    const newest = base + blocks.length;
    const hashes: Uint8Array[] = [];
    let previousHash = blocks.length === 0 ? FIRST_STATE_HASH : this.stateHash(base);
    for (const [i, { height, overlay }] of blocks.entries()) {
      assert(height === base + 1 + i, `block ${height} follows ${base + i}`);
      const { record, hash } = await this.addBlock(batch, overlay, previousHash);
      const key = u32Key.encode(height);
      if (height > newest - undoDepth) batch.put(undo, key, record);
      batch.put(stateHashes, key, hash);
      hashes.push(hash);
      previousHash = hash;
    }
    return hashes;
  }

  /** Adds the rows of a block; returns its undo record and state hash. */
  private async addBlock(batch: Batch, overlay: KeyedOverlay, previousHash: Uint8Array) {
    const { values, undo, hashed } = this;
    const { slice, scheme } = this.options;
    const rows = await encodeRows(overlay, values, slice);
    hashed.bytes(previousHash);
    let lastKey: Uint8Array | undefined;
    for (const row of rows) {
      if (row.kind !== 'local') {
        writeUndoEntry(undo, row.table, row.key, row.previous, lastKey);
        lastKey = row.key;
        if (row.kind === 'state') writeHashedRow(hashed, row.table, row.key, row.value);
      }
      batch.add(row);
      if (slice.isOver()) await slice.yield();
    }
    return { record: undo.take(), hash: scheme.fastHash(hashed.take()) };
  }

  private stateHash(height: number): Uint8Array {
    if (height === 0) return FIRST_STATE_HASH;
    const hash = this.options.store.get(this.options.stateHashes, u32Key.encode(height));
    assert(hash?.length === DIGEST_BYTES, `the state hash of height ${height} is stored`);
    return hash;
  }

  /**
   * Removes undo records that are too old: a few more than a commit adds, so that any excess
   * shrinks.
   */
  private prune(batch: Batch, newest: number, added: number): void {
    const { store, undo, undoDepth } = this.options;
    const oldest = newest - undoDepth + 1;
    if (oldest <= 0) return;
    const old = store.range(undo, START_OF_TABLE, u32Key.encode(oldest), 2 * added + 8);
    for (const [key] of old) batch.put(undo, key, undefined);
  }
}
