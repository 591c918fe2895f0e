/**
 * Rolls back blocks: the state below them and the removal of their index rows, in one overlay
 * (consensus.md#choice-between-forks).
 *
 * Invariant: through the overlay the rolled-back blocks are invisible, in the state and in the
 * index. So rules about known ids and former generators judge a fork correctly.
 */
import { assert } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { Committer } from '../../ledger/commit/commit.ts';
import type { Unwound } from '../../ledger/commit/step-encoder.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { untyped } from '../../ledger/table.ts';
import { tables } from '../../ledger/tables.ts';
import type { Tx } from '../../tx/transaction.ts';
import { indexRemovals } from './block-index.ts';
import { headerRowAt, transactionsInSlices } from './stored-blocks.ts';

export interface Unwinding {
  readonly unwound: Unwound;
  /** The transactions of the rolled-back blocks, oldest first. */
  readonly txs: readonly Tx[];
}

const byNumber = new Map(tables.map((table) => [table.id, untyped(table)]));

/** Throws ApiError where the chain cannot be rolled back to this height. */
export function requireReachable(to: number, from: number, undoDepth: number): void {
  if (to < 1 || to > from) {
    throw apiError('Invalid', `There is no block to roll back to at height ${to}`);
  }
  if (from - to > undoDepth) {
    const oldest = from - undoDepth;
    throw apiError('Invalid', `Rollback is possible only to the block at a height: ${oldest}`);
  }
}

/** Changes nothing yet. Rejects with ApiError where an undo record is no longer kept. */
export async function unwindTo(
  to: number,
  from: number,
  head: KeyedView,
  committer: Committer,
  clock: Clock,
): Promise<Unwinding> {
  const unwound = await committer.unwind(from, to);
  const { overlay } = unwound;
  const slice = new TimeSlice(clock);
  const txs: Tx[] = [];
  for (let height = to + 1; height <= from; height++) {
    const row = headerRowAt(head, height);
    assert(row !== undefined, `the header of height ${height} is stored`);
    const block = { height, row, txs: await transactionsInSlices(head, height, slice) };
    for (const { table, key } of indexRemovals(block, head, head.scheme)) {
      const of = byNumber.get(table);
      assert(of !== undefined, `table ${table} of the index is known`);
      overlay.write(of, key, undefined);
    }
    txs.push(...block.txs);
    await clock.turn();
  }
  return { unwound, txs };
}

/** The transactions that the replacing blocks do not contain, oldest first. */
export function droppedBy(
  { txs }: Unwinding,
  blocks: readonly { readonly txs: readonly Tx[] }[],
): Tx[] {
  const kept = new Set(blocks.flatMap((block) => block.txs.map((tx) => latin1(tx.id))));
  return txs.filter((tx) => !kept.has(latin1(tx.id)));
}
