/**
 * Derives the missed turns and bans of stored blocks, some thousand blocks at a time
 * (data-service.md#turns-of-miners). The height up to which they are there is in `meta`.
 */

import type { Database, Queries } from '../../../base/ports/database.ts';
import type { BanHistory } from '../../../consensus/ban-history.ts';
import { readMeta, writeMeta } from '../../schema/migrate.ts';
import { KEPT_MINERS, SKIPPED_ROUNDS } from '../../schema/tables.ts';
import { assertEnd, lockedEnd, readTip } from '../store-end.ts';
import { type BesideCrawl, besideCrawl, type Pass, type RefreshDeps } from './beside-crawl.ts';
import {
  MARKS,
  type MinedBlock,
  type MinerMark,
  type MinerOp,
  type MinerState,
  marksOf,
} from './miner-turns.ts';

const BLOCKS_AT_ONCE = 5000;
/** Older warnings and bans have no effect any more. */
const MARKS_READ = 10_000;
const DONE = 'turns_height';

/** A function that derives the turns of some blocks. */
export const turnRefresher = ({ db, clock, log }: RefreshDeps): BesideCrawl =>
  besideCrawl(
    (pass) => refreshTurns(db, pass),
    clock,
    (why) => log.warn('crawl.turns-failed', { why }),
  );

/** True where blocks are left. */
export async function refreshTurns(db: Database, { node, assertLocked }: Pass): Promise<boolean> {
  const settings = await node.banSettings();
  if (settings === undefined) return false;
  const stored = await readTip(db);
  const done = Number((await readMeta(db, DONE)) ?? 1);
  const blocks = await db.query<MinedBlock>(
    `SELECT height, ts::float8 AS timestamp, generator, coalesce(${SKIPPED_ROUNDS}, 0)::float8 AS skipped,
            ${KEPT_MINERS} AS kept
     FROM blocks WHERE height >= $1 ORDER BY height LIMIT ${BLOCKS_AT_ONCE + 1}`,
    [done],
  );
  const [parent, ...next] = blocks;
  if (parent === undefined || next.length === 0) return false;
  const ops = await readOps(db);
  const state = await readState(db, done, ops);
  const marks: MinerMark[] = [];
  let before = parent;
  for (const block of next) {
    marks.push(...marksOf(block, before, ops, state, settings));
    before = block;
  }
  assertLocked();
  await db.transaction(async (queries) => {
    assertEnd(await lockedEnd(queries), stored);
    await write(queries, marks);
    await writeMeta(queries, DONE, String(before.height));
  });
  return next.length === BLOCKS_AT_ONCE;
}

/** Beside the removal of the blocks above a height. */
export async function forgetTurns(db: Queries, height: number): Promise<void> {
  await db.query('DELETE FROM miner_marks WHERE height > $1', [height]);
  await db.query(
    `UPDATE meta SET value = least(value::int, greatest($1::int, 1))::text WHERE key = '${DONE}'`,
    [height],
  );
}

async function readOps(db: Queries): Promise<readonly MinerOp[]> {
  const rows = await db.query<Record<'address' | 'op' | 'ts', string> & OpNumbers>(
    `SELECT p.address, p.op, p.ts, p.due_ts, t.height FROM permission_ops p JOIN txs t USING (seq)
     WHERE p.role = 'miner' ORDER BY p.seq`,
  );
  return rows.map(({ address, op, ts, due_ts, height }) => ({
    address,
    height,
    timestamp: Number(ts),
    isGrant: op === 'add',
    due: due_ts === null ? undefined : Number(due_ts),
  }));
}

interface OpNumbers {
  readonly due_ts: string | null;
  readonly height: number;
}

/** The state after the block at `height`. */
async function readState(
  db: Queries,
  height: number,
  ops: readonly MinerOp[],
): Promise<MinerState> {
  const miners = [...new Set(ops.map(({ address }) => address))];
  const made = await db.query<{ address: string; height: number }>(
    `SELECT m.address, last.height FROM unnest($1::text[]) m(address) CROSS JOIN LATERAL (
       SELECT height FROM blocks b WHERE b.generator = m.address AND b.height <= $2
       ORDER BY b.height DESC LIMIT 1) last`,
    [miners, height],
  );
  const lastBlocks = new Map(made.map((row) => [row.address, row.height]));
  const marks = await db.query<{ address: string; height: number; mark: number; ts: string }>(
    `SELECT m.address, m.height, m.mark, b.ts FROM miner_marks m JOIN blocks b USING (height)
     WHERE m.mark <> ${MARKS.none} AND m.height <= $1 ORDER BY m.height DESC LIMIT ${MARKS_READ}`,
    [height],
  );
  const histories = new Map<string, BanHistory>();
  for (const { address, height: at, mark, ts } of marks.reverse()) {
    const { warnings, bans } = histories.get(address) ?? { warnings: [], bans: [] };
    const timestamp = Number(ts);
    if (mark === MARKS.ban) {
      histories.set(address, { warnings: [], bans: [{ timestamp, height: at }, ...bans] });
    } else if (at >= (lastBlocks.get(address) ?? 0)) {
      histories.set(address, { warnings: [timestamp, ...warnings], bans });
    }
  }
  return { histories, lastBlocks };
}

async function write(db: Queries, marks: readonly MinerMark[]): Promise<void> {
  if (marks.length === 0) return;
  await db.query(
    `INSERT INTO miner_marks (height, address, missed, mark, until)
     SELECT * FROM unnest($1::int[], $2::text[], $3::int[], $4::smallint[], $5::int[])`,
    [
      marks.map(({ height }) => height),
      marks.map(({ address }) => address),
      marks.map(({ missed }) => missed),
      marks.map(({ mark }) => mark),
      marks.map(({ until }) => until ?? null),
    ],
  );
}
