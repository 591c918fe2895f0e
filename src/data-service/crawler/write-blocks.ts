/**
 * Writes blocks exactly once (data-service.md#exactly-once): one transaction of the store for a
 * batch, which asserts that the batch continues what is there. Blocks of a branch that the node has
 * left go in the same transaction, so no reader sees a state between two branches.
 */
import type { Database, Queries } from '../../base/database.ts';
import { notifyOfChain } from '../schema/notices.ts';
import type { ChainBlock } from './chain-block.ts';
import { removeAbove } from './remove-blocks.ts';
import { type Aliases, aliasesNamed, COLUMNS, type Rows, rowsOf, type Table } from './rows.ts';

export interface Tip {
  /** 0 for an empty store. */
  readonly height: number;
  readonly signature: string;
}

export interface Writing {
  readonly blocks: readonly ChainBlock[];
  /** The last stored block that stays. */
  readonly after: Tip;
  /** First load: balances are asked for at its end. */
  readonly bulk: boolean;
  readonly now: number;
}

/** Another process has written meanwhile, or the caller has an outdated view. */
export class NotContinuous extends Error {
  override name = 'NotContinuous';
}

export async function readTip(db: Queries): Promise<Tip> {
  const rows = await db.query<Tip>(
    'SELECT height, signature FROM blocks ORDER BY height DESC LIMIT 1',
  );
  return rows[0] ?? { height: 0, signature: '' };
}

/** Throws NotContinuous, DatabaseError. */
export function writeBlocks(db: Database, writing: Writing): Promise<Rows> {
  return db.transaction(async (queries) => {
    const { blocks, after, bulk, now } = writing;
    // Loss of the last seconds means only that they are fetched again.
    if (bulk && db.engine === 'postgres') await queries.query('SET LOCAL synchronous_commit = off');
    await queries.query(`SELECT value FROM meta WHERE key = 'schema_version' FOR UPDATE`);
    const tip = await readTip(queries);
    if (tip.height > after.height) await removeAbove(queries, after.height, now, blocks[0]);
    const start = tip.height > after.height ? await readTip(queries) : tip;
    assertContinues(start, after, blocks);
    const rows = rowsOf(blocks, await nextSeq(queries), await knownAliases(queries, blocks));
    await writeRows(queries, rows, bulk);
    const top = blocks.at(-1)?.height ?? after.height;
    await notifyOfChain(queries, top);
    return rows;
  });
}

function assertContinues(start: Tip, after: Tip, [first]: readonly ChainBlock[]): void {
  if (start.height !== after.height || start.signature !== after.signature) {
    throw new NotContinuous(`the store is at ${start.height}, not at ${after.height}`);
  }
  if (first === undefined) return;
  const fits =
    first.height === start.height + 1 &&
    (start.height === 0 || first.reference === start.signature);
  if (!fits) throw new NotContinuous(`block ${first.height} does not follow ${start.height}`);
}

export async function nextSeq(db: Queries): Promise<number> {
  const rows = await db.query<{ next: string }>(
    'SELECT first_seq + tx_count AS next FROM blocks ORDER BY height DESC LIMIT 1',
  );
  return Number(rows[0]?.next ?? 1);
}

async function knownAliases(db: Queries, blocks: readonly ChainBlock[]): Promise<Aliases> {
  const names = [...aliasesNamed(blocks)];
  if (names.length === 0) return new Map();
  const rows = await db.query<{ alias: string; address: string }>(
    'SELECT alias, address FROM aliases WHERE alias = ANY($1::text[])',
    [names],
  );
  return new Map(rows.map(({ alias, address }) => [alias, address]));
}

async function writeRows(db: Queries, rows: Rows, bulk: boolean): Promise<void> {
  for (const table of Object.keys(COLUMNS) as Table[]) {
    await db.copy(table, COLUMNS[table], rows.lines[table]);
  }
  await addUsers(db, rows);
  await addAliases(db, rows);
  await changeAssets(db, rows);
  await countTypes(db, rows);
  if (!bulk) await markDirty(db, rows);
}

/** In the order in which the chain names them: their numbers are the same after every crawl. */
async function addUsers(db: Queries, { users }: Rows): Promise<void> {
  if (users.size === 0) return;
  const seen = [...users.values()];
  await db.query(
    `INSERT INTO users (ordinal, address, first_height, registered_ts)
     SELECT (SELECT coalesce(max(ordinal), 0) FROM users) + row_number() OVER (ORDER BY n),
       address, height, ts
     FROM unnest($1::text[], $2::int[], $3::bigint[]) WITH ORDINALITY AS new(address, height, ts, n)
     WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.address = new.address)`,
    [[...users.keys()], seen.map(({ height }) => height), seen.map(({ ts }) => ts)],
  );
}

async function addAliases(db: Queries, { aliases }: Rows): Promise<void> {
  if (aliases.length === 0) return;
  await db.query(
    `INSERT INTO aliases SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
     ON CONFLICT (alias) DO NOTHING`,
    [
      aliases.map(({ alias }) => alias),
      aliases.map(({ address }) => address),
      aliases.map(({ seq }) => seq),
    ],
  );
}

async function changeAssets(db: Queries, { assetChanges }: Rows): Promise<void> {
  if (assetChanges.size === 0) return;
  const changes = [...assetChanges.values()];
  await db.query(
    `UPDATE assets SET quantity = quantity + change.added,
       reissuable = coalesce(change.reissuable, assets.reissuable)
     FROM unnest($1::text[], $2::numeric[], $3::boolean[]) AS change(id, added, reissuable)
     WHERE asset_id = change.id`,
    [
      [...assetChanges.keys()],
      changes.map(({ added }) => String(added)),
      changes.map(({ reissuable }) => reissuable ?? null),
    ],
  );
}

async function countTypes(db: Queries, { typeCounts }: Rows): Promise<void> {
  if (typeCounts.size === 0) return;
  await db.query(
    `INSERT INTO type_counts SELECT * FROM unnest($1::smallint[], $2::bigint[])
     ON CONFLICT (type) DO UPDATE SET n = type_counts.n + excluded.n`,
    [[...typeCounts.keys()], [...typeCounts.values()]],
  );
}

/** The balances of these addresses may have changed. */
async function markDirty(db: Queries, { users }: Rows): Promise<void> {
  if (users.size === 0) return;
  const heights = [...users.values()].map(({ height }) => height);
  await db.query(
    `INSERT INTO balance_dirty SELECT * FROM unnest($1::text[], $2::int[])
     ON CONFLICT (address) DO UPDATE
     SET since_height = greatest(balance_dirty.since_height, excluded.since_height)`,
    [[...users.keys()], heights.map(() => Math.max(...heights))],
  );
}
