/**
 * Asks the node for balances that may have changed. They do not follow from the transactions alone,
 * because fees, rewards and sponsorship change them too (data-service.md#balances).
 */
import type { Database } from '../../base/database.ts';
import type { Holdings } from './holdings.ts';
import type { NodeReader } from './node-reader.ts';
import { readTip } from './store-end.ts';

const ADDRESSES_AT_ONCE = 200;
const ATTEMPTS = 3;

/**
 * The number of addresses done; 0 where none was left, the chain kept moving, or the node is behind
 * the store. Balances of the store's height or a later one are newer than every mark.
 */
export async function refreshBalances(db: Database, node: NodeReader): Promise<number> {
  const marked = await db.query<{ address: string }>(
    'SELECT address FROM balance_dirty ORDER BY since_height, address LIMIT $1',
    [ADDRESSES_AT_ONCE],
  );
  if (marked.length === 0) return 0;
  const known = await db.query<{ address: string }>(
    'SELECT address FROM users WHERE address = ANY($1::text[])',
    [marked.map(({ address }) => address)],
  );
  const users = known.map(({ address }) => address);
  const stored = await readTip(db);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const height = await node.height();
    if (height < stored.height) return 0;
    const before = await node.signatureAt(height);
    const found = users.length === 0 ? new Map<string, Holdings>() : await node.holdings(users);
    const after = (await node.height()) === height ? await node.signatureAt(height) : undefined;
    if (before === undefined || before !== after) continue;
    await write(
      db,
      marked.map(({ address }) => address),
      found,
      height,
    );
    return marked.length;
  }
  return 0;
}

/** An address that a rollback has removed keeps neither its mark nor its balances. */
function write(
  db: Database,
  marked: readonly string[],
  found: ReadonlyMap<string, Holdings>,
  height: number,
): Promise<void> {
  const rows = [...found].flatMap(([address, holdings]) =>
    Array.from(holdings, ([asset, amount]) => ({ address, asset, amount })),
  );
  return db.transaction(async (queries) => {
    await queries.query('DELETE FROM balances WHERE address = ANY($1::text[])', [marked]);
    await queries.query(
      `INSERT INTO balances SELECT address, asset, amount, $4::int
       FROM unnest($1::text[], $2::text[], $3::bigint[]) AS held(address, asset, amount)
       ON CONFLICT (address, asset_id) DO UPDATE
       SET amount = excluded.amount, height = excluded.height`,
      [
        rows.map(({ address }) => address),
        rows.map(({ asset }) => asset),
        rows.map(({ amount }) => amount),
        height,
      ],
    );
    await queries.query(
      'DELETE FROM balance_dirty WHERE address = ANY($1::text[]) AND since_height <= $2',
      [marked, height],
    );
  });
}
