/**
 * Every statement of every list, as PostgreSQL runs it on made rows: it reads no large table from
 * end to end, and touches a bounded number of rows wherever the page is and however frequent the
 * wanted value is. The planner chooses by cost and statistics, as it does for a user.
 *
 * PLAN_ROWS sets the number of transactions; `npm run test:plans` has a million.
 */
import t from 'tap';
import type { Database, SqlValue } from '../../../src/base/ports/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { listRequests, pagesOf } from '../list-requests.ts';
import { type MadeRows, makeRows } from '../made-rows.ts';
import { served } from '../served.ts';
import { postgresCluster } from '../stores.ts';

const TXS = Number(process.env['PLAN_ROWS'] ?? 100_000);
const LIMIT = 20;
/** A table of fewer rows may be read whole: that takes a few milliseconds. */
const LARGE_ROWS = 25_000;
/** A millisecond reads about two thousand rows. */
const TOUCHED_MAX = 12_000;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Planned {
  readonly scanned: readonly string[];
  readonly touched: number;
}

/** Tables that are read from end to end, and rows that nodes at the bottom have read. */
function judge(node: PlanNode, large: ReadonlySet<string>): Planned {
  const below = (node.Plans ?? []).map((one) => judge(one, large));
  const table = node['Relation Name'] ?? '';
  const isScan = node['Node Type'].includes('Seq Scan') && large.has(table);
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = table === '' ? 0 : (node['Actual Rows'] + removed) * node['Actual Loops'];
  return {
    scanned: [...(isScan ? [table] : []), ...below.flatMap(({ scanned }) => scanned)],
    touched: below.reduce((sum, { touched }) => sum + touched, own),
  };
}

const cluster = await postgresCluster(t);

t.test('no list reads more than its page needs', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const owner = cluster.open(url, { poolSize: 1 });
  t.teardown(() => owner.close());
  await migrate(owner, { indexText: true });
  const made: MadeRows = await makeRows(owner, TXS);
  const tables = await owner.query<{ relname: string }>(
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > ${LARGE_ROWS}`,
  );
  const large = new Set(tables.map(({ relname }) => relname));
  t.ok(large.has('txs') && large.has('tx_addresses'));

  const said = new Map<string, { sql: string; values: readonly SqlValue[] }>();
  const reader = cluster.open(url, { readOnly: true });
  const recording: Database = {
    ...reader,
    query(sql, values = []) {
      // The service asks the planner, too.
      if (sql.startsWith('EXPLAIN')) return reader.query(sql, values);
      said.set(
        JSON.stringify([sql, values], (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
        {
          sql,
          values,
        },
      );
      return reader.query(sql, values);
    },
  };
  const open = async (purpose: string) =>
    purpose === 'health' ? cluster.open(url, { poolSize: 1 }) : recording;
  const service = await served(t, 'http://127.0.0.1:9', open, {
    crawl: undefined,
  });
  for (const request of listRequests(made)) {
    const problems: string[] = [];
    for (const path of pagesOf(request, LIMIT)) {
      said.clear();
      const { status, text } = await service.get(path);
      if (status !== 200) problems.push(`${path}: ${status} ${text}`);
      for (const { sql, values } of [...said.values()]) {
        const [found] = await reader.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
          values,
        );
        const { scanned, touched } = judge(found!['QUERY PLAN'][0].Plan, large);
        if (scanned.length > 0) problems.push(`${path} reads all of ${scanned}: ${sql}`);
        if (touched > TOUCHED_MAX) problems.push(`${path} touches ${touched} rows: ${sql}`);
      }
    }
    t.strictSame(problems, [], request.name);
  }
});
