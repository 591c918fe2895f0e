/**
 * Turns overlays into one store write: the rows, undo records and state hashes of consecutive
 * blocks, and before them the rows that a reorganisation restores.
 *
 * Invariants: one `commit` is one store write, so that after a crash the store ends at a block
 * boundary; previous values come with the overlays and are not read again; a row whose bytes stay
 * the same is neither written nor hashed nor recorded; the order in which rows were set has no
 * influence on any byte; the cache of the head changes in the same step as the store, and only when
 * the write has succeeded.
 */

import { assert } from '../base/assert.ts';
import { apiError } from '../base/errors.ts';
import type { Store, StoreWrite } from '../base/ports.ts';
import { DIGEST_BYTES } from '../base/sizes.ts';
import { noTurns, sortInTurns, type Turns } from '../base/turns.ts';
import { Writer } from '../codec/codec.ts';
import { decodeValue, type Head } from './head.ts';
import { keyText, START_OF_TABLE, u32Key } from './key-codecs.ts';
import { createOverlay, type KeyedOverlay, type Row } from './overlay.ts';
import { FIRST_STATE_HASH, writeHashedRow } from './state-hash.ts';
import { type Table, untyped } from './table.ts';
import { readUndo, writeUndoEntry } from './undo.ts';

export interface CommitterOptions {
  readonly store: Store;
  readonly head: Head;
  readonly tables: readonly Table<never, never>[];
  /** Number of the table height → undo record. */
  readonly undo: number;
  /** Number of the table height → state hash. */
  readonly stateHashes: number;
  /** The number of blocks that can be rolled back. */
  readonly undoDepth?: number;
  /** Divides the encoding of large commits into pieces; absent: one piece. */
  readonly turns?: Turns;
}

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
  readonly unwound?: Unwound;
  /** Consecutive blocks in ascending order; may be empty after `unwound`. */
  readonly blocks: readonly BlockChanges[];
  /** Encoded rows of local tables, applied last: block index, head of the chain. */
  readonly extra?: Iterable<StoreWrite>;
}

export interface Committer {
  /**
   * Reads the undo records of the blocks above `to`; throws ApiError when one is no longer kept.
   * With `only`, the other tables keep their newer rows: such a view serves questions and is never
   * a base for blocks.
   */
  unwind(from: number, to: number, only?: ReadonlySet<number>): Unwound;
  /**
   * Writes everything in one durable transaction; returns the state hash of each block. `landed`
   * runs in the step that moves the head. Only one commit runs at a time, and the overlays must not
   * change meanwhile.
   */
  commit(step: Step, landed?: () => void): Promise<Uint8Array[]>;
}

/** The number of blocks that an operator can roll back (storage.max-rollback-depth). */
export const UNDO_DEPTH = 2000;

export function createCommitter(options: CommitterOptions): Committer {
  const { store, head } = options;
  const { scheme } = head;
  const turns = options.turns ?? noTurns;
  const depth = options.undoDepth ?? UNDO_DEPTH;
  const byNumber = new Map(options.tables.map((table) => [table.id, untyped(table)]));
  const values = new Writer(scheme);
  const undo = new Writer(scheme);
  const hashed = new Writer(scheme);

  const stateHash = (height: number): Uint8Array => {
    if (height === 0) return FIRST_STATE_HASH;
    const hash = store.get(options.stateHashes, u32Key.encode(height));
    assert(hash?.length === DIGEST_BYTES, `the state hash of height ${height} is stored`);
    return hash;
  };

  /** Adds the rows of a block; returns its undo record and state hash. */
  async function addBlock(batch: Batch, overlay: KeyedOverlay, previousHash: Uint8Array) {
    const rows = await encodeRows(overlay, values, turns);
    hashed.bytes(previousHash);
    let lastKey: Uint8Array | undefined;
    for (const row of rows) {
      if (row.kind !== 'local') {
        writeUndoEntry(undo, row.table, row.key, row.previous, lastKey);
        lastKey = row.key;
        if (row.kind === 'state') writeHashedRow(hashed, row.table, row.key, row.value);
      }
      batch.add(row);
      if (turns.due()) await turns.take();
    }
    return { record: undo.take(), hash: scheme.fastHash(hashed.take()) };
  }

  /**
   * Removes undo records that are too old: a few more than a commit adds, so that any excess
   * shrinks.
   */
  function prune(batch: Batch, newest: number, added: number): void {
    const oldest = newest - depth + 1;
    if (oldest <= 0) return;
    const old = store.range(options.undo, START_OF_TABLE, u32Key.encode(oldest), 2 * added + 8);
    for (const [key] of old) batch.put(options.undo, key, undefined);
  }

  async function encode(step: Step): Promise<{ batch: Batch; hashes: Uint8Array[] }> {
    const { unwound, blocks, extra } = step;
    const batch = new Batch();
    if (unwound !== undefined) {
      for (const row of await encodeRows(unwound.overlay, values, turns)) batch.add(row);
      for (let height = unwound.to + 1; height <= unwound.from; height++) {
        const key = u32Key.encode(height);
        batch.put(options.undo, key, undefined);
        batch.put(options.stateHashes, key, undefined);
      }
    }
    const base = unwound?.to ?? (blocks[0]?.height ?? 1) - 1;
    const newest = base + blocks.length;
    const hashes: Uint8Array[] = [];
    let previousHash = blocks.length === 0 ? FIRST_STATE_HASH : stateHash(base);
    for (const [i, { height, overlay }] of blocks.entries()) {
      assert(height === base + 1 + i, `block ${height} follows ${base + i}`);
      const { record, hash } = await addBlock(batch, overlay, previousHash);
      const key = u32Key.encode(height);
      if (height > newest - depth) batch.put(options.undo, key, record);
      batch.put(options.stateHashes, key, hash);
      hashes.push(hash);
      previousHash = hash;
    }
    prune(batch, newest, blocks.length);
    for (const { table, key, value } of extra ?? []) {
      batch.put(table, key, value);
      if (turns.due()) await turns.take();
    }
    return { batch, hashes };
  }

  function refreshHead(writes: Iterable<PendingWrite>): void {
    for (const { table, text, value, row } of writes) {
      const of = row?.table ?? byNumber.get(table);
      if (of === undefined || of.cached === 0) continue;
      if (value === undefined) head.removed(of, text);
      else if (row !== undefined) head.written(of, text, row.after, value);
      else head.written(of, text, decodeValue(of, value.slice(), scheme), value);
    }
  }

  return {
    unwind: (from, to, only) => {
      const overlay = createOverlay(head);
      for (let height = from; height > to; height--) {
        const record = store.get(options.undo, u32Key.encode(height));
        if (record === undefined) {
          throw apiError('Invalid', `Block ${height} is too old to be rolled back`);
        }
        for (const { table, key, previous } of readUndo(record, scheme)) {
          if (only?.has(table) === false) continue;
          const of = byNumber.get(table);
          assert(of !== undefined, `table ${table} of an undo record is known`);
          const value = previous === undefined ? undefined : decodeValue(of, previous, scheme);
          overlay.write(of, key, value);
        }
      }
      return { from, to, overlay };
    },
    commit: async (step, landed) => {
      const { batch, hashes } = await encode(step);
      const writes = await batch.writes(turns);
      await store.write(writes, () => {
        refreshHead(writes);
        landed?.();
      });
      return hashes;
    },
  };
}

/**
 * A write with its place in the order, and the decoded row from which it comes, if there is one.
 */
interface PendingWrite extends StoreWrite {
  readonly text: string;
  readonly row: Row | undefined;
}

class EncodedRow implements PendingWrite {
  readonly row: Row;
  readonly text: string;
  readonly table: number;
  readonly kind: Table<unknown, unknown>['kind'];
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
  readonly previous: Uint8Array | undefined;

  constructor(row: Row, value: Uint8Array | undefined, previous: Uint8Array | undefined) {
    this.row = row;
    this.text = row.text;
    this.table = row.table.id;
    this.kind = row.table.kind;
    this.key = row.key;
    this.value = value;
    this.previous = previous;
  }
}

const byKeyThenTable = (a: Row, b: Row): number =>
  a.text < b.text ? -1 : a.text > b.text ? 1 : a.table.id - b.table.id;

/**
 * The rows that really change, in order of key and then table. One buffer holds all values: it is
 * allocated once, and the store asks for one address instead of one for every value.
 */
async function encodeRows(overlay: KeyedOverlay, out: Writer, turns: Turns): Promise<EncodedRow[]> {
  const changed: Row[] = [];
  for (const row of overlay.changes()) {
    if (row.before !== row.after || row.table.kind === 'local') changed.push(row);
  }
  const rows = await sortInTurns(changed, byKeyThenTable, turns);
  const ends = new Uint32Array(rows.length * 2);
  for (const [i, { table, before, after }] of rows.entries()) {
    if (after !== undefined) table.value.write(out, after);
    ends[2 * i] = out.position;
    if (before !== undefined) table.value.write(out, before);
    ends[2 * i + 1] = out.position;
    if (turns.due()) await turns.take();
  }
  const { buffer } = out.take();
  const encoded: EncodedRow[] = [];
  let start = 0;
  for (const [i, row] of rows.entries()) {
    const middle = ends[2 * i]!;
    const end = ends[2 * i + 1]!;
    const value =
      row.after === undefined ? undefined : new Uint8Array(buffer, start, middle - start);
    const previous =
      row.before === undefined ? undefined : new Uint8Array(buffer, middle, end - middle);
    start = end;
    if (value === undefined || previous === undefined || !equal(value, previous)) {
      encoded.push(new EncodedRow(row, value, previous));
    }
    if (turns.due()) await turns.take();
  }
  return encoded;
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/**
 * All writes of one commit by table and key. Where several writes have one key, the last counts.
 */
class Batch {
  private readonly tables: (PendingWrite[] | undefined)[] = [];

  add(write: PendingWrite): void {
    const list = this.tables[write.table];
    if (list === undefined) this.tables[write.table] = [write];
    else list.push(write);
  }

  put(table: number, key: Uint8Array, value: Uint8Array | undefined): void {
    this.add({ table, key, value, text: keyText(key), row: undefined });
  }

  async writes(turns: Turns): Promise<PendingWrite[]> {
    const writes: PendingWrite[] = [];
    for (const added of this.tables) {
      if (added === undefined) continue;
      // The rows of one block arrive sorted and without repetition.
      const list = isAscending(added) ? added : await sortInTurns(added, byText, turns);
      for (let i = 0; i < list.length; i++) {
        const write = list[i]!;
        if (write.text !== list[i + 1]?.text) writes.push(write);
      }
      if (turns.due()) await turns.take();
    }
    return writes;
  }
}

function isAscending(list: readonly PendingWrite[]): boolean {
  for (let i = 1; i < list.length; i++) if (list[i - 1]!.text >= list[i]!.text) return false;
  return true;
}

// The sort is stable, so that the later of two writes to a key stays the later one.
const byText = (a: PendingWrite, b: PendingWrite): number =>
  a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
