/**
 * Marks of addresses whose balances were read at a block that the store does not have yet. The node
 * may still replace that block, and then no removal in the store marks the address again. So the mark
 * stays until the store has the block; `since_height` is its height with a minus meanwhile.
 *
 * Invariant: all blocks of such marks belong to one branch, of which `meta` has the highest block.
 */
import type { Queries } from '../../../base/ports/database.ts';
import { readMeta, writeMeta } from '../../schema/migrate.ts';
import type { Tip } from '../store-end.ts';

const READ_AHEAD = 'balances_ahead';

/** The highest block above the stored ones at which balances were read. */
export async function aheadOf(db: Queries): Promise<Tip | undefined> {
  const [height, signature] = ((await readMeta(db, READ_AHEAD)) ?? '').split(' ');
  return signature === undefined ? undefined : { height: Number(height), signature };
}

/** Whether the store may have a block of such a mark by now. */
export async function hasReached(db: Queries, ahead: Tip, stored: Tip): Promise<boolean> {
  if (ahead.height <= stored.height) return true;
  const reached = await db.query(
    'SELECT FROM balance_dirty WHERE since_height BETWEEN $1 AND -1 LIMIT 1',
    [-stored.height],
  );
  return reached.length > 0;
}

export interface Ahead {
  readonly ahead: Tip;
  /** The chain that has the last stored block still has that of `ahead`. */
  readonly isKept: boolean;
  readonly stored: Tip;
}

/** Marks of stored blocks go. Where the branch was left, all are to be read again. */
export async function settle(db: Queries, { ahead, isKept, stored }: Ahead): Promise<void> {
  if (!isKept) return forgetAhead(db, stored.height);
  await db.query('DELETE FROM balance_dirty WHERE since_height BETWEEN $1 AND -1', [
    -stored.height,
  ]);
  if (ahead.height <= stored.height) await forget(db);
}

/** All of them are to be read again. Also beside the removal of the blocks above a height. */
export async function forgetAhead(db: Queries, height: number): Promise<void> {
  await db.query('UPDATE balance_dirty SET since_height = $1 WHERE since_height < 0', [height]);
  await forget(db);
}

const forget = (db: Queries): Promise<object[]> =>
  db.query('DELETE FROM meta WHERE key = $1', [READ_AHEAD]);

/**
 * The number of marks whose balances were read. Those of addresses that the store does not know, since
 * a rollback has removed them, go: a block that brings such an address marks it again.
 */
export async function settleRead(
  db: Queries,
  {
    addresses,
    users,
  }: { readonly addresses: readonly string[]; readonly users: readonly string[] },
  read: Tip,
  stored: Tip,
): Promise<number> {
  if (addresses.length === 0) return 0;
  const isAhead = read.height > stored.height;
  const gone = await db.query(
    `DELETE FROM balance_dirty WHERE address = ANY($1::text[]) AND since_height <= $2
       AND ($3 OR address <> ALL($4::text[])) RETURNING address`,
    [addresses, read.height, !isAhead, users],
  );
  if (!isAhead) return gone.length;
  const kept = await db.query(
    `UPDATE balance_dirty SET since_height = -$2::int
     WHERE address = ANY($1::text[]) AND since_height <= $2 RETURNING address`,
    [addresses, read.height],
  );
  if (kept.length > 0) await writeMeta(db, READ_AHEAD, `${read.height} ${read.signature}`);
  return gone.length + kept.length;
}
