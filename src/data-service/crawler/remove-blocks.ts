/** Removes blocks that the chain no longer has, and what followed from them. */
import type { Database, Queries } from '../../base/ports/database.ts';
import { notifyOfChain } from '../schema/notices.ts';
import type { ChainBlock } from './chain-block.ts';
import { forgetAhead } from './refresh/balance-marks.ts';
import { forgetFinal } from './refresh/refresh-final.ts';
import { forgetTurns } from './refresh/refresh-turns.ts';
import { assertEnd, lockedEnd, NotContinuous, type Tip } from './store-end.ts';

/** Tables with a row, or several, for a transaction. */
const BY_SEQ = [
  'txs',
  'tx_addresses',
  'tx_aliases',
  'tx_amounts',
  'tx_proofs',
  'data_entries',
  'permission_ops',
  'aliases',
  'assets',
] as const;

/** `next` is the block that takes the place of the first one removed. Throws NotContinuous. */
export async function removeAbove(
  db: Queries,
  height: number,
  now: number,
  next?: ChainBlock,
): Promise<void> {
  const [first] = await db.query<{ first_seq: string; signature: string }>(
    'SELECT first_seq, signature FROM blocks WHERE height = $1',
    [height + 1],
  );
  if (first === undefined) return;
  if (first.signature === next?.signature) {
    throw new NotContinuous(`block ${height + 1} is the stored one`);
  }
  const seq = Number(first.first_seq);
  const top = await db.query<{ height: number }>('SELECT max(height) AS height FROM blocks');
  await markDirty(db, height, seq);
  // A mark above the last block would stay until the chain is as high again.
  await db.query('UPDATE balance_dirty SET since_height = $1 WHERE since_height > $1', [height]);
  await forgetAhead(db, height);
  const touched = await db.query<{ asset_id: string }>(
    'SELECT DISTINCT asset_id FROM txs WHERE seq >= $1 AND type IN (5, 6) AND asset_id IS NOT NULL',
    [seq],
  );
  await db.query(
    `UPDATE type_counts c SET n = c.n - gone.n
     FROM (SELECT type, count(*) AS n FROM txs WHERE seq >= $1 GROUP BY type) gone
     WHERE c.type = gone.type`,
    [seq],
  );
  await db.query('DELETE FROM type_counts WHERE n = 0');
  for (const table of BY_SEQ) await db.query(`DELETE FROM ${table} WHERE seq >= $1`, [seq]);
  await db.query('DELETE FROM users WHERE first_height > $1', [height]);
  await db.query('DELETE FROM blocks WHERE height > $1', [height]);
  await db.query('DELETE FROM block_spans WHERE height > $1', [height]);
  await forgetTurns(db, height);
  await forgetFinal(db, height);
  await recount(
    db,
    touched.map(({ asset_id }) => asset_id),
  );
  // Its time is the place of a removal among all (stream/chain-place.ts), also where a clock is set back.
  await db.query(
    `INSERT INTO reorgs VALUES
     (greatest($1::bigint, (SELECT coalesce(max(at), 0) + 1 FROM reorgs)), $2, $3, $4, $5)`,
    [now, top[0]?.height ?? height, height, first.signature, next?.signature ?? null],
  );
}

/** Those whose transactions go get new balances, as far as the chain still knows them. */
async function markDirty(db: Queries, height: number, seq: number): Promise<void> {
  await db.query(
    `INSERT INTO balance_dirty
     SELECT address, $1::int FROM (
       SELECT address FROM tx_addresses WHERE seq >= $2
       UNION SELECT generator FROM blocks WHERE height > $1
       UNION SELECT a.issuer FROM assets a JOIN txs t ON t.fee_asset_id = a.asset_id
         WHERE t.seq >= $2) gone
     ON CONFLICT (address) DO UPDATE SET since_height = excluded.since_height`,
    [height, seq],
  );
}

/** Assets whose later reissues and burns were removed. */
async function recount(db: Queries, assets: readonly string[]): Promise<void> {
  if (assets.length === 0) return;
  await db.query(
    `UPDATE assets a SET
       quantity = a.issued_quantity + coalesce((
         SELECT sum(CASE t.type WHEN 5 THEN t.amount ELSE -t.amount END)
         FROM txs t WHERE t.asset_id = a.asset_id AND t.type IN (5, 6)), 0),
       reissuable = coalesce((
         SELECT (t.body->>'reissuable')::boolean FROM txs t
         WHERE t.asset_id = a.asset_id AND t.type = 5 ORDER BY t.seq DESC LIMIT 1),
         a.issued_reissuable)
     WHERE a.asset_id = ANY($1::text[])`,
    [assets],
  );
}

/** The store then ends at `height`. Throws NotContinuous where it does not end at `tip` before. */
export const rollBack = (db: Database, height: number, now: number, tip?: Tip): Promise<void> =>
  db.transaction(async (queries) => {
    const end = await lockedEnd(queries);
    if (tip !== undefined) assertEnd(end, tip);
    await removeAbove(queries, height, now);
    await notifyOfChain(queries, height);
  });
