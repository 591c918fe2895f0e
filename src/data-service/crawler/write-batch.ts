/**
 * Writes a batch exactly once (data-service.md#exactly-once): one transaction of the store, which
 * asserts that the batch continues what is there. Blocks of a branch that the node has left go in
 * the same transaction, so no reader sees a state between two branches.
 */
import type { Database, Queries } from '../../base/ports/database.ts';
import { notifyOfChain } from '../schema/notices.ts';
import { transactionsOf } from './block-parts.ts';
import type { ChainBlock } from './chain-block.ts';
import { type Batch, type Cursor, nothingKnown, prepareBatch } from './prepare-batch.ts';
import { removeAbove } from './remove-blocks.ts';
import { COLUMNS } from './rows/columns.ts';
import type { Rows } from './rows/rows.ts';
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

/**
 * The rows follow their assertion at once, since nothing is committed before it has its answer.
 * `begun` is called when nobody else can write before this. Throws NotContinuous, DatabaseError.
 */
export function writeBatch(
  db: Database,
  batch: Batch,
  writing: Writing,
  begun: () => void,
): Promise<void> {
  return db.transaction(async (queries) => {
    const first = beginAfter(queries, batch.after, batch.blocks[0], writing, db.engine).then(begun);
    if (writing.replaced !== undefined) await first;
    await inOrder(first, writeRows(queries, batch, writing));
  });
}

/** Waits for both. Rejects with the failure of the first, because the second may follow from it. */
export async function inOrder(first: Promise<void>, second: Promise<void>): Promise<void> {
  const [one, other] = await Promise.allSettled([first, second]);
  if (one.status === 'rejected') throw one.reason;
  if (other.status === 'rejected') throw other.reason;
}

/** What a block in parts has added. */
export interface WrittenParts {
  readonly next: Cursor;
  readonly rows: readonly Pick<Rows, 'typeCounts' | 'unknown' | 'changed'>[];
}

/**
 * A block whose transactions come in parts, in one transaction of the store; its rows are made and
 * written part by part. `each` is called before each part, and may throw. Throws NodeAway, too.
 */
export function writeParts(
  db: Database,
  block: ChainBlock,
  after: Cursor,
  writing: Writing,
  each: () => void,
): Promise<WrittenParts> {
  return db.transaction(async (queries) => {
    await beginAfter(queries, after, block, writing, db.engine);
    let next = after;
    const rows: WrittenParts['rows'][number][] = [];
    for await (const transactions of transactionsOf(block)) {
      each();
      // What the parts before it have named is looked up in the store, however much it is.
      const part = [{ ...block, transactions }];
      const batch = await prepareBatch(queries, part, next, nothingKnown(next));
      const texts = batch.texts.filter(([table]) => next === after || table !== 'blocks');
      await writeRows(queries, { ...batch, texts }, writing);
      const { typeCounts, unknown, changed } = batch.rows;
      rows.push({ typeCounts, unknown, changed });
      next = batch.next;
    }
    await queries.query('UPDATE blocks SET tx_count = $1 WHERE height = $2', [
      next.nextSeq - after.nextSeq,
      block.height,
    ]);
    return { next, rows };
  });
}

/** The store ends at `after`, perhaps since the blocks above are removed now. */
async function beginAfter(
  queries: Queries,
  after: Cursor,
  first: ChainBlock | undefined,
  { bulk, replaced, removing, now }: Writing,
  engine: Database['engine'],
): Promise<void> {
  // Loss of the last seconds means only that they are fetched again.
  const [end] = await Promise.all([
    lockedEnd(queries),
    bulk && engine === 'postgres' ? queries.query('SET LOCAL synchronous_commit = off') : undefined,
  ]);
  if (replaced === undefined) {
    assertContinues(end, after, first);
    return;
  }
  assertEnd(end, replaced);
  const removed = removing();
  await removeAbove(queries, after.height, now, first);
  removed();
  assertContinues(await readEnd(queries), after, first);
}

function assertContinues(start: StoreEnd, after: Cursor, first: ChainBlock | undefined): void {
  const isAfter =
    start.height === after.height &&
    start.signature === after.signature &&
    Number(start.next) === after.nextSeq;
  if (!isAfter) {
    throw new NotContinuous(`the store is at ${start.height}, not at ${after.height}`);
  }
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
