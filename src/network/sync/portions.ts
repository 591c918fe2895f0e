/**
 * Cuts a stream of blocks into portions that are checked, applied and written together.
 *
 * Invariants: the blocks, transactions and bytes of a portion are limited, except for a single
 * block that is larger; blocks that arrived before a failure are passed on before it.
 */
import type { Block } from '../../block/block.ts';

interface Portioned {
  readonly block: Pick<Block, 'bytes' | 'transactions'>;
}

export const PORTION_BLOCKS = 50;
export const PORTION_TRANSACTIONS = 10_000;
/** Even over a slow line a portion arrives well before its peer counts as stalled. */
const PORTION_BYTES = 2 * 1024 * 1024;

export async function* portionsOf<T extends Portioned>(
  source: AsyncIterable<T>,
): AsyncGenerator<T[]> {
  let portion: T[] = [];
  let transactions = 0;
  let bytes = 0;
  try {
    for await (const item of source) {
      portion.push(item);
      transactions += item.block.transactions.length;
      bytes += item.block.bytes.length;
      const isSmall = transactions < PORTION_TRANSACTIONS && bytes < PORTION_BYTES;
      if (portion.length < PORTION_BLOCKS && isSmall) continue;
      yield portion;
      portion = [];
      transactions = 0;
      bytes = 0;
    }
  } catch (cause) {
    if (portion.length > 0) yield portion;
    throw cause;
  }
  if (portion.length > 0) yield portion;
}

/**
 * The same items, each passed on when `count` more have arrived, so that those are processed
 * meanwhile.
 */
export async function* withLead<T>(source: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const ahead: T[] = [];
  let failure: { readonly cause: unknown } | undefined;
  try {
    for await (const item of source) {
      ahead.push(item);
      if (ahead.length > count) yield ahead.shift()!;
    }
  } catch (cause) {
    failure = { cause };
  }
  yield* ahead;
  if (failure !== undefined) throw failure.cause;
}
