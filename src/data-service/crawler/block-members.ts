/**
 * Members of atomic transactions (120) as transactions of their block: each stands behind the one that
 * holds it, and `atomicId` says which that is. So every list, search and count finds them.
 */
import type { JsonObject } from '../../base/json/json.ts';
import { atomic } from '../../tx/types/120-atomic.ts';
import { type ChainBlock, hasColumns, NotABlock } from './chain-block.ts';
import { objects } from './storable.ts';

/** Throws NotABlock where the columns cannot hold a member. */
export function withMemberRows(block: ChainBlock): ChainBlock {
  if (!block.transactions.some(isAtomic)) return block;
  const transactions = block.transactions.flatMap((tx): readonly JsonObject[] =>
    isAtomic(tx) ? [tx, ...rowsOf(tx)] : [tx],
  );
  if (transactions.every(hasColumns)) return { ...block, transactions };
  throw new NotABlock(`block ${block.height} of the node has a number out of range`);
}

const isAtomic = ({ type }: JsonObject): boolean => Number(type) === atomic.type;

const rowsOf = ({ id, transactions }: JsonObject): JsonObject[] =>
  objects(transactions).map((member) => ({ ...member, atomicId: id }));
