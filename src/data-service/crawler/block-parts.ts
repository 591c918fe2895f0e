/** A block that is too long for one answer of the node: its transactions come in parts. */
import { type Client, RefusedError } from '../../api/client.ts';
import { blocks } from '../../api/routes/blocks.ts';
import { MIB } from '../../base/budget.ts';
import { AnswerTooLong } from '../../base/http.ts';
import { type ChainBlock, NotABlock, readBlock } from './chain-block.ts';

/** Transactions of the first part that is asked for. */
const PART = 1000;
/** No block has more; a node that gives more is not believed. */
const BYTES_MAX = 256 * MIB;

/**
 * `bytes` tells how many the answers had so far. Throws NotABlock where the parts are not those of
 * one block.
 */
export async function blockInParts(
  call: Client['call'],
  height: number,
  bytes: () => number,
): Promise<ChainBlock[]> {
  const transactions: ChainBlock['transactions'][number][] = [];
  let block: ChainBlock | undefined;
  for (let limit = PART; ; ) {
    const part = await partOf(call, height, transactions.length, limit);
    if (part === undefined) {
      if (limit === 1) throw new NotABlock(`a transaction of block ${height} is too long`);
      limit = Math.ceil(limit / 2);
      continue;
    }
    block ??= part;
    if (part.signature !== block.signature || part.transactions.length > limit) {
      throw new NotABlock(`the node does not give block ${height} in parts`);
    }
    transactions.push(...part.transactions);
    if (bytes() > BYTES_MAX) throw new NotABlock(`block ${height} has no end`);
    if (part.transactions.length < limit) return [{ ...block, transactions }];
  }
}

/** Undefined where it is too long. */
async function partOf(call: Client['call'], height: number, offset: number, limit: number) {
  try {
    return readBlock(await call(blocks.at, { params: { height }, query: { offset, limit } }));
  } catch (cause) {
    const isTooLong =
      cause instanceof AnswerTooLong || (cause instanceof RefusedError && cause.status === 413);
    if (isTooLong) return undefined;
    throw cause;
  }
}
