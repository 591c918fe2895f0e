/**
 * Counts of transactions as SQL (data-service.md#counts). No statement reads more than it may, however
 * frequent its filters are: each part reads rows of one index up to a limit, in the order of that
 * index, and looks at each of them for what else is asked.
 */
import { LOOKED_UP_MAX, lookedUp } from './filter-sources.ts';
import type { Source } from './search-sources.ts';
import { type SqlValues, sqlValues } from './sql-values.ts';
import type { TransactionFilter } from './transaction-filter.ts';
import { PARTS, type PlannedQuery, type Statement, selectOf } from './transaction-sql.ts';
import { between, isEmpty, type PageOf, type Range } from './windows.ts';

/**
 * What each row is looked at for: for nothing, so that it counts; for the ordinals of the query; for
 * its filters, too; or for the filters and one of several sources.
 */
type Looks = 'nothing' | 'ordinals' | 'filters' | readonly Source[];

export interface CountPart {
  readonly query: PlannedQuery;
  /** Among their rows are all that count. */
  readonly sources: readonly Source[];
  readonly looks: Looks;
  /** No more rows of the sources are read. */
  readonly readMax: number;
  /** The sources are in no order of ordinals: all rows of the range are read and compared. */
  readonly byRange?: boolean;
}

/**
 * Its row has `count`, which is at most one more than `end`. Where a part has more rows than it may
 * read, so that more might count, `cutAt` is this limit, and null else.
 */
export function countStatement(parts: readonly CountPart[], end: number): Statement {
  const values = sqlValues();
  const most = end + 1;
  const read: string[] = [];
  const counted: string[] = [];
  const cuts: string[] = [];
  for (const [i, part] of parts.entries()) {
    const { query, sources, looks, readMax, byRange } = part;
    const name = `read${i}`;
    // Each transaction is at most once among the rows of a source that are in its order.
    const enough = looks === 'nothing' && isInOrder(sources) ? most * sources.length : readMax + 1;
    const limit = Math.min(enough, readMax + 1);
    const rows = byRange === true ? rowsOfRange : rowsOf;
    // All that is read counts: no row has to be kept.
    const isCount = looks === 'nothing' && isOnce(part) && end <= readMax;
    const kept = isCount ? 'NOT MATERIALIZED' : 'MATERIALIZED';
    read.push(`${name} AS ${kept} (${rows(query, sources, limit, values)})`);
    counted.push(countedOf(name, part, values));
    if (limit > readMax && !isCount) {
      cuts.push(`CASE WHEN (SELECT count(*) FROM ${name}) > ${readMax} THEN ${readMax} END`);
    }
  }
  const union = areApart(parts) ? ' UNION ALL ' : ' UNION ';
  const cutAt = cuts.length === 0 ? 'NULL' : `greatest(${cuts})`;
  return {
    sql: `WITH ${read.join(', ')}
      SELECT count(*) AS count, CASE WHEN count(*) <= ${end} THEN ${cutAt} END AS "cutAt"
      FROM (SELECT seq FROM (${counted.join(union)}) each LIMIT ${most}) found`,
    values: values.list,
  };
}

export const isInOrder = (sources: readonly Source[]): boolean =>
  sources.every(({ order }) => order === undefined);

/** No transaction has two of the rows. */
function isOnce({ query, sources }: CountPart): boolean {
  const [only, ...others] = sources;
  if (others.length === 0) return isInOrder(sources) || only!.repeats !== true;
  // Without a search, several sources of one table are for several types.
  const { search } = query.filter;
  return search === undefined && sources.every(({ from }) => from === 'txs');
}

/** No transaction is in two of the parts. */
const areApart = (parts: readonly CountPart[]): boolean =>
  parts.every(({ query: { range } }, i) =>
    parts.slice(i + 1).every(({ query: { range: other } }) => isEmpty(overlap(range, other))),
  );

const overlap = (one: Range, other: Range): Range => ({
  low: Math.max(one.low, other.low),
  high: Math.min(one.high, other.high),
});

/** The numbers of rows of several sources, each up to one more than can be looked up. */
export function sizesStatement(
  query: PlannedQuery,
  all: readonly (readonly Source[])[],
): Statement {
  const values = sqlValues();
  const sizes = all.map(
    (sources) =>
      `(SELECT count(*) FROM (${rowsOf(query, sources, LOOKED_UP_MAX + 1, values)}) one)`,
  );
  return { sql: `SELECT ARRAY[${sizes}]::int[] AS sizes`, values: values.list };
}

/** Ordinals of rows of the sources, at most so many, whatever the filters of the query are. */
function rowsOf(
  query: PlannedQuery,
  sources: readonly Source[],
  most: number,
  values: SqlValues,
): string {
  const { range, filter } = query;
  const page: PageOf = { range, sort: filter.sort, most };
  const plain = { ...query, filter: withoutFilters(filter) };
  const parts = sources.map((source) => {
    const { finding, order } = source;
    if (order === undefined) return PARTS[finding](page, selectOf(source, plain, values));
    // Rows outside the range have been read, too: they are left out only behind the limit.
    const select = selectOf({ ...source, repeats: false }, plain, values);
    return `(${select('true', 's.seq')} ORDER BY ${order} LIMIT ${most})`;
  });
  return joined(parts, most);
}

/** The same of all rows of the range, null for those that the source does not have. */
function rowsOfRange(
  { range }: PlannedQuery,
  sources: readonly Source[],
  most: number,
  values: SqlValues,
): string {
  const parts = sources.map(
    ({ from, where }) => `(SELECT CASE WHEN ${where(values)} THEN s.seq END AS seq
      FROM ${from} s WHERE ${between('s.seq', range)} LIMIT ${most})`,
  );
  return joined(parts, most);
}

function joined(parts: readonly string[], most: number): string {
  const all = parts.length === 1 ? parts[0] : `(${parts.join(' UNION ALL ')})`;
  return `SELECT seq FROM ${all} one LIMIT ${most}`;
}

/** Of the filters only the search is left, whose sources are given. */
export const withoutFilters = ({
  sort,
  limit,
  search,
  scope,
}: TransactionFilter): TransactionFilter =>
  ({ sort, limit, search, scope }) as Partial<TransactionFilter> as TransactionFilter;

function countedOf(name: string, part: CountPart, values: SqlValues): string {
  const { query, looks } = part;
  const { range } = query;
  const once = isOnce(part) ? name : `(SELECT DISTINCT seq FROM ${name})`;
  if (looks === 'nothing') return `SELECT seq FROM ${once} r`;
  if (looks === 'ordinals') return `SELECT seq FROM ${once} r WHERE ${between('r.seq', range)}`;
  return lookedUp(once, query, values, looks === 'filters' ? [] : looks);
}
