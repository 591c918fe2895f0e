/**
 * A block that is too long for one answer of the node: its transactions come in parts, and each is
 * read when the one before it has been used. So no more than a part is in memory.
 */

import type { JsonObject } from '../../base/json/json.ts';
import { MIB } from '../../base/limits/budget.ts';
import { AnswerTooLong } from '../../base/ports/http.ts';
import { blocks } from '../../rest/routes/blocks.ts';
import { type Client, RefusedError } from '../../rest-framework/client.ts';
import { withMemberRows } from './block-members.ts';
import { type ChainBlock, NotABlock, readBlock } from './chain-block.ts';

/** Of a block: two bytes are the index of a transaction in it. */
const TRANSACTIONS_MAX = 65_535;
/** Transactions of the first part that is asked for. */
const PART = 1000;

/**
 * Of the JSON of all parts. The longest for its bytes are entries of data: five bytes, with a control
 * character for a key and a truth for a value, take 46 characters. Beside that each of 65,535
 * transactions has the names of its fields.
 */
const bytesMax = ({ blocksize }: ChainBlock): number => 64 * MIB + 16 * Math.max(0, blocksize);

/** A block of the longest kind may take its time, but not at less than this. */
const BYTES_PER_MS_MIN = 64;
const MS_MIN = 600_000;

/** The answers so far. */
export interface PartsRead {
  bytes(): number;
  /** Spent on them. */
  ms(): number;
}

/** Throws NotABlock where the parts are not those of one block, or of one that has no end. */
export async function blockInParts(
  call: Client['call'],
  height: number,
  read: PartsRead,
): Promise<ChainBlock> {
  const parts = partsOf(call, height, read);
  const { value: first } = await parts.next();
  return { ...(first as ChainBlock), further: further(parts) };
}

async function* further(
  parts: AsyncGenerator<ChainBlock, void>,
): AsyncGenerator<readonly JsonObject[]> {
  for await (const { transactions } of parts) yield transactions;
}

/** The transactions of any block, in one part or several. */
export async function* transactionsOf({
  transactions,
  further = nothing(),
}: ChainBlock): AsyncGenerator<readonly JsonObject[]> {
  yield transactions;
  yield* further;
}

async function* nothing(): AsyncGenerator<readonly JsonObject[]> {}

/** At least one part. */
async function* partsOf(
  call: Client['call'],
  height: number,
  read: PartsRead,
): AsyncGenerator<ChainBlock, void> {
  let first: ChainBlock | undefined;
  let offset = 0;
  for (let limit = PART; ; ) {
    const part = await partOf(call, height, offset, limit);
    if (part === undefined) {
      if (limit === 1) throw new NotABlock(`a transaction of block ${height} is too long`);
      limit = Math.ceil(limit / 2);
      continue;
    }
    first ??= part;
    if (part.signature !== first.signature || part.transactions.length > limit) {
      throw new NotABlock(`the node does not give block ${height} in parts`);
    }
    offset += part.transactions.length;
    const isLate = read.ms() > MS_MIN + read.bytes() / BYTES_PER_MS_MIN;
    if (offset > TRANSACTIONS_MAX || read.bytes() > bytesMax(first) || isLate) {
      throw new NotABlock(`block ${height} has no end`);
    }
    yield withMemberRows(part);
    if (part.transactions.length < limit) return;
  }
}

/** Undefined where it is too long. */
async function partOf(call: Client['call'], height: number, offset: number, limit: number) {
  const part = call(blocks.at, { params: { height }, query: { offset, limit } });
  const answer = await unlessTooLong(part);
  return answer === undefined ? undefined : readBlock(answer);
}

/** Undefined where the answer of the node is too long. */
export async function unlessTooLong<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (cause) {
    const isTooLong =
      cause instanceof AnswerTooLong || (cause instanceof RefusedError && cause.status === 413);
    if (isTooLong) return undefined;
    throw cause;
  }
}
