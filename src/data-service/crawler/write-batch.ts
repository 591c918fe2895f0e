/**
 * Writes a batch exactly once (data-service.md#exactly-once): one transaction of the store, which
 * asserts that the batch continues what is there. Blocks of a branch that the node has left go in
 * the same transaction, so no reader sees a state between two branches.
 */
import type { Database, Queries } from '../../base/database.ts';
import { notifyOfChain } from '../schema/notices.ts';
import { COLUMNS } from './columns.ts';
import type { Batch } from './prepare-batch.ts';
import { removeAbove } from './remove-blocks.ts';
import type { Rows } from './rows.ts';
import {
  assertEnd,
  lockedEnd,
  NotContinuous,
  readEnd,
  type StoreEnd,
  type Tip,
} from './store-end.ts';

export interface Writing {
  /** First load: balances are asked for at its end. */
  readonly bulk: boolean;
  /** Where the store ends, if the blocks above `batch.after` are to be removed. */
  readonly replaced?: Tip | undefined;
  readonly now: number;
  /** Begins a measurement of the removal of blocks; the returned function ends it. */
  readonly removing: () => () => void;
}

/** Throws NotContinuous, DatabaseError. */
export function writeBatch(db: Database, batch: Batch, writing: Writing): Promise<void> {
  const { replaced, bulk, removing, now } = writing;
  return db.transaction(async (queries) => {
    // Loss of the last seconds means only that they are fetched again.
    const isHasty = db.engine === 'postgres' && bulk;
    const [end] = await Promise.all([
      lockedEnd(queries),
      isHasty ? queries.query('SET LOCAL synchronous_commit = off') : undefined,
    ]);
    if (replaced === undefined) {
      assertContinues(end, batch);
    } else {
      assertEnd(end, replaced);
      const removed = removing();
      await removeAbove(queries, batch.after.height, now, batch.blocks[0]);
      removed();
      assertContinues(await readEnd(queries), batch);
    }
    await writeRows(queries, batch, writing);
  });
}

function assertContinues(start: StoreEnd, { after, blocks }: Batch): void {
  const isAfter =
    start.height === after.height &&
    start.signature === after.signature &&
    Number(start.next) === after.nextSeq;
  if (!isAfter) {
    throw new NotContinuous(`the store is at ${start.height}, not at ${after.height}`);
  }
  const [first] = blocks;
  if (first === undefined) return;
  const fits =
    first.height === start.height + 1 &&
    (start.height === 0 || first.reference === start.signature);
  if (!fits) throw new NotContinuous(`block ${first.height} does not follow ${start.height}`);
}

/** All statements are sent at once, so the store never waits for this process between them. */
async function writeRows(db: Queries, batch: Batch, { bulk }: Writing): Promise<void> {
  const { texts, rows, next } = batch;
  await Promise.all([
    ...texts.map(([table, text]) => db.copy(table, COLUMNS[table], text)),
    changeAssets(db, rows),
    countTypes(db, rows),
    bulk ? undefined : markDirty(db, batch),
    notifyOfChain(db, next.height),
  ]);
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

/** The balances of these addresses may have changed, in this batch or in later ones of its run. */
async function markDirty(db: Queries, { marked, sponsored, next }: Batch): Promise<void> {
  if (marked.length + sponsored.length === 0) return;
  await db.query(
    `INSERT INTO balance_dirty SELECT address, $3::int FROM (
       SELECT address FROM unnest($1::text[]) AS named(address)
       UNION SELECT issuer FROM assets WHERE asset_id = ANY($2::text[])) AS new
     ON CONFLICT (address) DO UPDATE
     SET since_height = greatest(balance_dirty.since_height, excluded.since_height)`,
    [marked, sponsored, next.height],
  );
}
