/**
 * Lists of transactions as SQL (data-service.md#queries).
 *
 * Every source is a sub-select with its own limit, and a union joins them. One condition with OR
 * over all of them could use no index.
 */
import { AUTHOR, PARTICIPANT } from '../crawler/rows/rows.ts';
import { conditions, lookedUp, type RangeQuery } from './filter-sources.ts';
import { cutPage } from './page-cut.ts';
import type { Finding, Source } from './search-sources.ts';
import { SUMMARY_COLUMNS } from './shapes.ts';
import { type SqlValues, sqlValues } from './sql-values.ts';
import type { TransactionFilter } from './transaction-filter.ts';
import {
  between,
  byBucket,
  fewByBucket,
  inOrder,
  nearestFirst,
  type PageOf,
  type Select,
} from './windows.ts';

/** What a list reads. */
export interface PlannedQuery extends RangeQuery {
  readonly sources: readonly Source[];
  /** Where the next page begins if this one is not full; undefined at the end of the list. */
  readonly rest: number | undefined;
  /**
   * The sources answer one filter. So many of their rows are looked at for the others, and a page
   * that is not full then goes on behind them (`restOf`).
   */
  readonly lookedUp?: number;
}

/** Conditions that are no columns of the transaction. */
function further(filter: TransactionFilter, values: SqlValues) {
  const { sender, recipient, permissions } = filter;
  const found: string[] = [];
  const isParty = (address: string, role: number): string =>
    `EXISTS (SELECT FROM tx_addresses a WHERE a.address = ${values.add(address)}
       AND a.seq = s.seq AND a.role = ${role})`;
  if (recipient !== undefined) found.push(isParty(recipient, PARTICIPANT));
  if (sender !== undefined) found.push(isParty(sender, AUTHOR));
  if (permissions !== undefined) {
    found.push(
      `EXISTS (SELECT FROM permission_ops p WHERE p.seq = s.seq
         AND p.role = ANY(${values.add([...permissions], 'text[]')}))`,
    );
  }
  return found;
}

/** The filters that a source answers by itself, without a search. */
function drives(
  { search, recipient }: TransactionFilter,
  from: string,
): Partial<TransactionFilter> {
  if (search !== undefined) return {};
  if (from === 'permission_ops') return { permissions: undefined };
  if (from !== 'tx_addresses') return {};
  return recipient === undefined ? { sender: undefined } : { recipient: undefined };
}

/** The ordinals of one source, as sub-selects that differ in their last condition and order. */
export function selectOf(
  { from, where, repeats }: Source,
  query: PlannedQuery,
  values: SqlValues,
): Select {
  const { filter, range } = query;
  const onTxs = from === 'txs';
  const ofTx = conditions(filter, onTxs ? 's' : 't', values);
  const others = further({ ...filter, ...drives(filter, from) }, values);
  // No index has the times: most rows of the range have one of the dates, and each is looked at.
  const isDates = ofTx.length === 1 && filter.dateFrom !== undefined;
  // A range for both sides of a join: one side alone would be read from its end.
  const joined = isDates
    ? 'CROSS JOIN LATERAL (SELECT ts FROM txs WHERE seq = s.seq OFFSET 0) t'
    : `JOIN txs t ON t.seq = s.seq AND ${between('t.seq', range)}`;
  const join = onTxs || ofTx.length === 0 ? '' : joined;
  const own = [where(values), ...ofTx, ...others].filter((text) => text !== 'true');
  const distinct = repeats === true ? 'DISTINCT ' : '';
  return (condition, ordinal, sort) => {
    const order = sort === undefined ? '' : `ORDER BY ${ordinal} ${sort}`;
    return `SELECT ${distinct}${ordinal} AS seq FROM ${from} s ${join}
      WHERE ${[...own, condition].join(' AND ')} ${order}`;
  };
}

export const PARTS: Readonly<Record<Finding, (page: PageOf, select: Select) => string>> = {
  'in-order': (page, select) => inOrder(page, 's.seq', select),
  'by-bucket': (page, select) => byBucket(page, 's.seq', select),
  'few-by-bucket': (page, select) => fewByBucket(page, 's.seq', select),
  'nearest-first': (page, select) => nearestFirst(page, 's.seq', select),
  'at-once': (page, select) => inOrder(page, 's.seq + 0', select),
  compared: (page, select) => inOrder(page, 's.seq', select),
};

/** Rows of sources that answer one filter, in the order of the list, at most so many. */
function rowsInOrder(
  { filter: { sort }, range }: RangeQuery,
  sources: readonly Source[],
  most: number,
  values: SqlValues,
): string {
  const page: PageOf = { range, sort, most };
  const [only, ...others] = sources as readonly [Source, ...Source[]];
  if (others.length === 0 && only.order === undefined) return byKey(only, page, values);
  const parts = sources.map(({ from, where, order }) => {
    // Those of an index in another order are few.
    const ordinal = order === undefined ? 's.seq' : 's.seq + 0';
    return `(SELECT s.seq FROM ${from} s WHERE ${where(values)} AND ${between('s.seq', range)}
      ORDER BY ${ordinal} ${sort} LIMIT ${most})`;
  });
  if (others.length === 0) return parts[0]!;
  // A transaction has one type, and may have several roles.
  const distinct = sources.every(({ from }) => from === 'txs') ? '' : 'DISTINCT ';
  return `(SELECT ${distinct}seq FROM (${parts.join(' UNION ALL ')}) each
    ORDER BY seq ${sort} LIMIT ${most})`;
}

/**
 * By the index with exactly these columns: rows and orders of all of them leave no other one. For a
 * value that is frequent by the statistics the planner would walk all transactions, and read as many
 * as there are where the value is frequent in another part of the chain alone.
 */
function byKey(
  { from, key = () => [] }: Source,
  { range: { low, high }, sort, most }: PageOf,
  values: SqlValues,
): string {
  const columns = key(values);
  const names = [...columns.map(({ column }) => column), 's.seq'];
  const bound = (end: number): string => `(${[...columns.map(({ value }) => value), end]})`;
  const only = columns.map(({ only = 'true' }) => only).filter((text) => text !== 'true');
  const found = [...only, `(${names}) >= ${bound(low)}`, `(${names}) <= ${bound(high)}`];
  return `(SELECT s.seq FROM ${from} s WHERE ${found.join(' AND ')}
    ORDER BY ${names.map((name) => `${name} ${sort}`)} LIMIT ${most})`;
}

/**
 * The ordinal behind so many rows of the sources, as a scalar sub-select; null where they have no
 * more. Of those in another order than the list it tells nothing else.
 */
export function endOf(
  query: RangeQuery,
  sources: readonly Source[],
  many: number,
  values: SqlValues,
): string {
  const [{ from, where, order }] = sources as readonly [Source];
  const found =
    order === undefined
      ? rowsInOrder(query, sources, many + 1, values)
      : `(SELECT s.seq FROM ${from} s WHERE ${where(values)} ORDER BY ${order} LIMIT ${many + 1})`;
  return `(SELECT seq FROM ${found} found OFFSET ${many})`;
}

export interface Statement {
  readonly sql: string;
  readonly values: SqlValues['list'];
}

function foundBy(query: PlannedQuery, page: PageOf, values: SqlValues): string {
  const parts = query.sources.map((source) =>
    PARTS[source.finding](page, selectOf(source, query, values)),
  );
  return parts.length === 1 ? parts[0]! : `(${parts.join(' UNION ')})`;
}

/** Looked up by itself: a join with it could read all transactions. */
const ROW = (of: string): string => `(SELECT * FROM txs WHERE seq = ${of}.seq OFFSET 0)`;

const BODY_BYTES = (seq: string): string =>
  `(SELECT octet_length(b.body::text) FROM txs b WHERE b.seq = ${seq})`;

/**
 * The rows of a page, and one more that tells where the next one begins (`shownOf`). With all fields
 * a transaction may have megabytes, so such a page is cut at `bytesMax`.
 */
export function pageStatement(
  query: PlannedQuery,
  bytesMax: number,
  more: readonly string[] = [],
): Statement {
  const { filter, sources, range } = query;
  const { sort } = filter;
  const values = sqlValues();
  const page: PageOf = { range, sort, most: filter.limit + 1 };
  const seqs =
    query.lookedUp === undefined
      ? foundBy(query, page, values)
      : // One after the other in their order, until the page is full.
        `(${lookedUp(rowsInOrder(query, sources, query.lookedUp, values), query, values)}
          LIMIT ${page.most})`;
  const found = `(SELECT seq FROM ${seqs} found ORDER BY seq ${sort} LIMIT ${page.most})`;
  const columns = [SUMMARY_COLUMNS, ...more];
  if (!filter.extended) {
    const sql = `SELECT ${columns} FROM ${found} page CROSS JOIN LATERAL ${ROW('page')} t
      ORDER BY t.seq ${sort}`;
    return { sql, values: values.list };
  }
  const { limit } = filter;
  const cut = cutPage({ seqs: found, sort, limit, bytesMax, bytesOf: BODY_BYTES });
  return {
    sql: `SELECT ${[...columns, 'is_shown', 'CASE WHEN is_shown THEN t.body END AS body']}
      FROM ${cut} cut CROSS JOIN LATERAL ${ROW('cut')} t ORDER BY n`,
    values: values.list,
  };
}
