/**
 * Turns overlays into one store write (step-encoder.ts), and undo records back into an overlay.
 *
 * Invariants: one `commit` is one store write, so that after a crash the store ends at a block
 * boundary; the cache of the head changes in the same step as the store, and only when the write
 * has succeeded.
 */
import { assert } from '../../base/assert.ts';
import { apiError } from '../../base/errors.ts';
import type { Store } from '../../base/ports/store.ts';
import { RowsAndColumns } from '../../base/row-columns.ts';
import { type CommittedView, decodeValue } from '../committed-view.ts';
import { keyText, u32Key } from '../key-codecs.ts';
import { createOverlay } from '../overlay.ts';
import { type Table, untyped } from '../table.ts';
import type { PendingWrite } from './batch.ts';
import { type Step, StepEncoder, type StepEncoderOptions, type Unwound } from './step-encoder.ts';
import { readUndo } from './undo.ts';

export interface CommitterOptions extends Omit<StepEncoderOptions, 'scheme'> {
  readonly store: Store;
  readonly head: CommittedView;
  readonly tables: readonly Table<never, never>[];
}

export interface Committer {
  /**
   * Reads the undo records of the blocks above `to`; rejects with ApiError when one is no longer kept.
   * With `only`, the other tables keep their newer rows: such a view serves questions and is never
   * a base for blocks.
   */
  unwind(from: number, to: number, only?: ReadonlySet<number>): Promise<Unwound>;
  /**
   * Writes everything in one durable transaction; returns the state hash of each block. `landed`
   * runs in the step that moves the head. Only one commit runs at a time, and the overlays must not
   * change meanwhile.
   */
  commit(step: Step, landed?: () => void): Promise<readonly Uint8Array[]>;
}

export function createCommitter(options: CommitterOptions): Committer {
  const { store, head, slice } = options;
  const { scheme } = head;
  const byNumber = new Map(options.tables.map((table) => [table.id, untyped(table)]));
  const encoder = new StepEncoder({ ...options, scheme });

  function refreshHead(writes: Iterable<PendingWrite>): void {
    for (const { table, key, value, row } of writes) {
      const of = row?.table ?? byNumber.get(table);
      if (of === undefined || of.cached === 0) continue;
      const text = row?.text ?? keyText(key);
      if (value === undefined) head.removed(of, text);
      else if (row !== undefined) head.written(of, text, row.after, value);
      else head.written(of, text, decodeValue(of, value.slice(), scheme), value);
    }
  }

  return {
    unwind: async (from, to, only) => {
      const overlay = createOverlay(head);
      for (let height = from; height > to; height--) {
        const record = store.get(options.undo, u32Key.encode(height));
        if (record === undefined) {
          throw apiError('UndoMissing', height);
        }
        for (const { table, key, previous } of readUndo(record, scheme)) {
          if (slice.isOver()) await slice.yield();
          if (only?.has(table) === false) continue;
          const of = byNumber.get(table);
          assert(of !== undefined, `table ${table} of an undo record is known`);
          const value = previous === undefined ? undefined : decodeValue(of, previous, scheme);
          overlay.write(of, key, value);
        }
        if (slice.isOver()) await slice.yield();
      }
      return { from, to, overlay };
    },
    commit: async (step, landed) => {
      const { writes, columns, hashes } = await encoder.encode(step);
      await store.write(new RowsAndColumns(writes, columns), () => {
        refreshHead(writes);
        landed?.();
      });
      return hashes;
    },
  };
}
