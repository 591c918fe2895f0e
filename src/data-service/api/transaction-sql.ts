/**
 * Lists of transactions as SQL (data-service.md#queries).
 *
 * Every source is a sub-select with its own limit, and a union joins them. One condition with OR
 * over all of them could use no index.
 */
import { AUTHOR, PARTICIPANT } from '../crawler/rows.ts';
import { cutPage } from './page-cut.ts';
import { lastMs } from './query-params.ts';
import type { Finding, Source } from './search-sources.ts';
import { SUMMARY_COLUMNS } from './shapes.ts';
import { type SqlValues, sqlValues } from './sql-values.ts';
import type { TransactionFilter } from './transaction-filter.ts';
import type { PlannedQuery } from './transaction-query.ts';
import {
  between,
  byBucket,
  fewByBucket,
  inOrder,
  nearestFirst,
  type PageOf,
  type Select,
} from './windows.ts';

/** Conditions on the transaction itself, beside those of a source. */
export function conditions(
  filter: Partial<TransactionFilter>,
  t: string,
  values: SqlValues,
): string[] {
  const { type, assetId, amount, amountFrom, amountTo, dateFrom, dateTo, contractId } = filter;
  const found: string[] = [];
  const [only] = type ?? [];
  if (type?.length === 1) found.push(`${t}.type = ${values.add(only!, 'smallint')}`);
  else if (type !== undefined)
    found.push(`${t}.type = ANY(${values.add([...type], 'smallint[]')})`);
  if (assetId !== undefined) found.push(`${t}.asset_id = ${values.add(assetId)}`);
  if (amount !== undefined) found.push(`${t}.amount = ${values.add(amount, 'bigint')}`);
  if (amountFrom !== undefined) found.push(`${t}.amount >= ${values.add(amountFrom, 'bigint')}`);
  if (amountTo !== undefined) found.push(`${t}.amount <= ${values.add(amountTo, 'bigint')}`);
  if (dateFrom !== undefined && dateTo !== undefined) {
    found.push(`${t}.ts BETWEEN ${values.add(dateFrom)} AND ${values.add(lastMs(dateTo))}`);
  }
  if (contractId !== undefined) {
    found.push(`${t}.body ? 'contractId' AND ${t}.body->>'contractId' = ${values.add(contractId)}`);
  }
  return found;
}

/** Conditions that are no columns of the transaction. */
function further(filter: TransactionFilter, seq: string, values: SqlValues) {
  const { sender, recipient, permissions } = filter;
  const found: string[] = [];
  const isParty = (address: string, role: number): string =>
    `EXISTS (SELECT FROM tx_addresses a WHERE a.address = ${values.add(address)}
       AND a.seq = ${seq} AND a.role = ${role})`;
  if (recipient !== undefined) found.push(isParty(recipient, PARTICIPANT));
  if (sender !== undefined) found.push(isParty(sender, AUTHOR));
  if (permissions !== undefined) {
    found.push(
      `EXISTS (SELECT FROM permission_ops p WHERE p.seq = ${seq}
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
  const others = further({ ...filter, ...drives(filter, from) }, 's.seq', values);
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

/** Rows that are walked before all are looked up. */
const NEAREST = 4096;

export const PARTS: Readonly<Record<Finding, (page: PageOf, select: Select) => string>> = {
  'in-order': (page, select) => inOrder(page, 's.seq', select),
  'by-bucket': (page, select) => byBucket(page, 's.seq', select),
  'few-by-bucket': (page, select) => fewByBucket(page, 's.seq', select),
  'nearest-first': (page, select) => nearestFirst(page, 's.seq', NEAREST, select),
  'at-once': (page, select) => inOrder(page, 's.seq + 0', select),
  compared: (page, select) => inOrder(page, 's.seq', select),
};

export interface Statement {
  readonly sql: string;
  readonly values: SqlValues['list'];
}

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
  const parts = sources.map((source) =>
    PARTS[source.finding](page, selectOf(source, query, values)),
  );
  const seqs = parts.length === 1 ? parts[0] : `(${parts.join(' UNION ')})`;
  const found = `(SELECT seq FROM ${seqs} found ORDER BY seq ${sort} LIMIT ${page.most})`;
  const columns = [SUMMARY_COLUMNS, ...more];
  if (!filter.extended) {
    const sql = `SELECT ${columns} FROM ${found} page JOIN txs t USING (seq) ORDER BY seq ${sort}`;
    return { sql, values: values.list };
  }
  const { limit } = filter;
  const cut = cutPage({ seqs: found, sort, limit, bytesMax, bytesOf: BODY_BYTES });
  return {
    sql: `SELECT ${[...columns, 'is_shown', 'CASE WHEN is_shown THEN t.body END AS body']}
      FROM ${cut} cut CROSS JOIN LATERAL (SELECT * FROM txs WHERE seq = cut.seq OFFSET 0) t
      ORDER BY n`,
    values: values.list,
  };
}
