/** A block that is too long for one answer of the node: its transactions come in parts. */
import { type Client, RefusedError } from '../../api/client.ts';
import { blocks } from '../../api/routes/blocks.ts';
import { MIB } from '../../base/budget.ts';
import { AnswerTooLong } from '../../base/http.ts';
import { type ChainBlock, NotABlock, readBlock } from './chain-block.ts';

/** Transactions of the first part that is asked for. */
const PART = 1000;
/**
 * Of the JSON of a block: eight times what the longest block has under the default of
 * `miner.max-block-size-in-bytes`, where each byte takes six characters.
 */
const BYTES_MAX = 64 * MIB;

/** What was read of a block so far. */
export interface PartsRead {
  /** Of the answers. */
  bytes(): number;
  /** It takes longer than any block. */
  isLate(): boolean;
}

export interface PartsOptions {
  readonly height: number;
  /** Values of the JSON of all parts together. */
  readonly valuesMax: number;
}

/** Throws NotABlock where the parts are not those of one block, or of one that has no end. */
export async function blockInParts(
  call: Client['call'],
  { height, valuesMax }: PartsOptions,
  read: PartsRead,
): Promise<ChainBlock[]> {
  const transactions: ChainBlock['transactions'][number][] = [];
  let block: ChainBlock | undefined;
  let values = 0;
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
    values += valuesOf(part.transactions);
    if (read.bytes() > BYTES_MAX || values > valuesMax || read.isLate()) {
      throw new NotABlock(`block ${height} has no end`);
    }
    transactions.push(...part.transactions);
    if (part.transactions.length < limit) return [{ ...block, transactions }];
  }
}

/** Lists and objects count, too. */
function valuesOf(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 1;
  return Object.values(json).reduce<number>((sum, member) => sum + valuesOf(member), 1);
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
