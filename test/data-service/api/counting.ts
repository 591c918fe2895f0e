/** Counts that a service answers from a store, and what their statements read. */
import type { Test } from 'tap';
import type { Database, SqlValue } from '../../../src/base/ports/database.ts';
import { served } from '../served.ts';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Group Key'?: readonly string[];
  readonly Plans?: readonly PlanNode[];
}

/** Rows that this node itself has read. */
const ownRows = (node: PlanNode): number =>
  (node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)) *
  node['Actual Loops'];

/** Rows that nodes of the plan have read from this table, or from any and from indexes. */
export function readBy(node: PlanNode, table?: string): number {
  const isOf = table === undefined || node['Relation Name'] === table;
  const below = (node.Plans ?? []).reduce((sum, one) => sum + readBy(one, table), 0);
  return below + (isOf ? ownRows(node) : 0);
}

/** The most rows that a single scan of a table or an index has read. */
export function longestScan(node: PlanNode): number {
  const isScan = /^(?:Seq|Index|Index Only|Bitmap Heap|Bitmap Index) Scan$/.test(node['Node Type']);
  return Math.max(isScan ? ownRows(node) : 0, ...(node.Plans ?? []).map(longestScan));
}

/** Whether rows are kept, or compared with each other. */
export function keepsRows(node: PlanNode): boolean {
  const isKeeping = /^(?:CTE Scan|Sort|Incremental Sort|Unique)$/.test(node['Node Type']);
  return isKeeping || node['Group Key'] !== undefined || (node.Plans ?? []).some(keepsRows);
}

interface Said {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A service on a store with tables, which the test closes; `said` has the statements that are wanted. */
export async function recorded(t: Test, db: Database, isWanted: (sql: string) => boolean) {
  const said: Said[] = [];
  const recording: Database = {
    ...db,
    query(sql, values = [], signal) {
      if (isWanted(sql)) said.push({ sql, values });
      return db.query(sql, values, signal);
    },
  };
  const reading = { ...recording, reading: recording, close: async () => undefined };
  const service = await served(t, 'http://127.0.0.1:9', async () => reading, { crawl: undefined });
  await service.opened();
  /** Of these statements. */
  async function plans(): Promise<PlanNode[]> {
    const found: PlanNode[] = [];
    for (const { sql, values } of said) {
      const [explained] = await db.query<{ 'QUERY PLAN': string | [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
        values,
      );
      const plan = explained!['QUERY PLAN'];
      found.push((typeof plan === 'string' ? JSON.parse(plan) : plan)[0].Plan);
    }
    return found;
  }
  return { service, said, plans };
}

/** Of a store with tables, which the test closes. */
export async function counting(t: Test, db: Database) {
  const { service, said, plans } = await recorded(t, db, (sql) => sql.includes('count(*)'));
  return {
    async count(query: string): Promise<unknown> {
      said.length = 0;
      const { status, json } = await service.get(`/transactions/count?${query}`);
      return status === 200 ? (json as { count: string }).count : json;
    },
    /** Of the statements of the last count. */
    plans,
  };
}
