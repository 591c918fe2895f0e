/**
 * Lists and counts of transactions as SQL (data-service.md#queries).
 *
 * Every source is a sub-select in the order of `seq` with its own limit, and a union joins them.
 * One condition with OR over all of them could use no index.
 */
import { AUTHOR, PARTICIPANT } from '../crawler/rows.ts';
import { lastMs } from './query-params.ts';
import { rows } from './reading.ts';
import { type Source, searchSources } from './search-sources.ts';
import type { DataServices } from './services.ts';
import { type SqlValues, sqlValues } from './sql-values.ts';
import type { TransactionFilter } from './transaction-filter.ts';

/** A transaction's time may differ that much from its block's. */
const TIME_TOLERANCE_MS = 2 * 3_600_000;

/** The ordinals between which all wanted rows are. */
interface Range {
  readonly low: number;
  readonly high: number;
}

export interface PlannedQuery {
  readonly sources: readonly Source[];
  readonly filter: TransactionFilter;
  readonly range: Range;
}

/** Looks up what limits the query: sources of the search, and the ordinals of dates and heights. */
export async function planQuery(
  filter: TransactionFilter,
  total: number,
  services: DataServices,
): Promise<PlannedQuery> {
  const [sources, range] = await Promise.all([
    filter.search === undefined
      ? drivingSources(filter)
      : searchSources(filter.search, filter.scope ?? ['in_all'], services),
    rangeOf(filter, total, services),
  ]);
  return { sources, filter, range };
}

/** Without a search, the most selective filter with an index. */
function drivingSources(filter: TransactionFilter): readonly Source[] {
  const { sender, recipient, permissions, type } = filter;
  const party = (address: string, role: number): Source => ({
    from: 'tx_addresses',
    where: (values) => `s.address = ${values.add(address)} AND s.role = ${role}`,
  });
  if (recipient !== undefined) return [party(recipient, PARTICIPANT)];
  if (sender !== undefined) return [party(sender, AUTHOR)];
  if (permissions !== undefined) {
    return permissions.map((role) => ({
      from: 'permission_ops',
      where: (values) => `s.role = ${values.add(role)}`,
    }));
  }
  // Each type has its own run in the index.
  if (type !== undefined && type.length > 1) {
    return type.map((one) => ({
      from: 'txs',
      where: (values) => `s.type = ${values.add(one, 'smallint')}`,
    }));
  }
  return [{ from: 'txs', where: () => 'true' }];
}

async function rangeOf(
  filter: TransactionFilter,
  total: number,
  services: DataServices,
): Promise<Range> {
  const { index, sort, dateFrom, dateTo, heightFrom, heightTo } = filter;
  const lows = [1];
  const highs = [total];
  if (index !== undefined) (sort === 'desc' ? highs : lows).push(index);
  if (dateFrom !== undefined && dateTo !== undefined) {
    const first = await firstSeq(
      services,
      'ts >= $1 ORDER BY ts, height',
      dateFrom - TIME_TOLERANCE_MS,
    );
    const after = await firstSeq(
      services,
      'ts > $1 ORDER BY ts, height',
      lastMs(dateTo) + TIME_TOLERANCE_MS,
    );
    lows.push(first ?? total + 1);
    highs.push((after ?? total + 1) - 1);
  }
  if (heightFrom !== undefined) {
    lows.push((await firstSeq(services, 'height >= $1 ORDER BY height', heightFrom)) ?? total + 1);
  }
  if (heightTo !== undefined) {
    highs.push(
      ((await firstSeq(services, 'height > $1 ORDER BY height', heightTo)) ?? total + 1) - 1,
    );
  }
  return { low: Math.max(...lows), high: Math.min(...highs) };
}

async function firstSeq(
  services: DataServices,
  condition: string,
  value: number,
): Promise<number | undefined> {
  const sql = `SELECT first_seq FROM blocks WHERE ${condition} LIMIT 1`;
  const found = await rows<{ first_seq: string }>(services, sql, [value]);
  return found[0] === undefined ? undefined : Number(found[0].first_seq);
}

/** Conditions on the transaction itself, beside those of a source. */
function conditions(filter: TransactionFilter, t: string, values: SqlValues): string[] {
  const { type, assetId, amount, amountFrom, amountTo, dateFrom, dateTo, sender, contractId } =
    filter;
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
  if (sender !== undefined) found.push(`${t}.sender = ${values.add(sender)}`);
  if (contractId !== undefined) {
    found.push(`${t}.body ? 'contractId' AND ${t}.body->>'contractId' = ${values.add(contractId)}`);
  }
  return found;
}

/** Conditions that are no columns of the transaction. */
function further({ recipient, permissions }: TransactionFilter, seq: string, values: SqlValues) {
  const found: string[] = [];
  if (recipient !== undefined) {
    found.push(
      `EXISTS (SELECT FROM tx_addresses a WHERE a.address = ${values.add(recipient)}
         AND a.seq = ${seq} AND a.role = ${PARTICIPANT})`,
    );
  }
  if (permissions !== undefined) {
    found.push(
      `EXISTS (SELECT FROM permission_ops p WHERE p.seq = ${seq}
         AND p.role = ANY(${values.add([...permissions], 'text[]')}))`,
    );
  }
  return found;
}

/** The ordinals of one source. */
function subSelect({ from, where }: Source, query: PlannedQuery, values: SqlValues): string {
  const { filter, range } = query;
  const own = where(values);
  const onTxs = from === 'txs';
  const t = onTxs ? 's' : 't';
  const ofTx = conditions(filter, t, values);
  const others = filter.search === undefined && !onTxs ? [] : further(filter, 's.seq', values);
  const join = onTxs || ofTx.length === 0 ? '' : 'JOIN txs t ON t.seq = s.seq';
  const bounds = `s.seq BETWEEN ${values.add(range.low)} AND ${values.add(range.high)}`;
  const all = [own, bounds, ...ofTx, ...others].filter((text) => text !== 'true').join(' AND ');
  return `SELECT s.seq FROM ${from} s ${join} WHERE ${all}`;
}

export interface Statement {
  readonly sql: string;
  readonly values: SqlValues['list'];
}

/** The ordinals of a page, and one more that tells where the next one begins. */
export function pageStatement(query: PlannedQuery, columns: string): Statement {
  const { filter, sources } = query;
  const values = sqlValues();
  const rowsMax = filter.limit + 1;
  const parts = sources.map((source) => {
    // Several rows of a side table may name one transaction.
    const most = source.from === 'txs' ? rowsMax : rowsMax * ROWS_OF_ONE;
    return `(${subSelect(source, query, values)} ORDER BY s.seq ${filter.sort} LIMIT ${most})`;
  });
  const order = `ORDER BY seq ${filter.sort} LIMIT ${rowsMax}`;
  const [only] = sources;
  const seqs =
    parts.length === 1 && only?.from === 'txs'
      ? `SELECT seq FROM ${parts[0]} one ${order}`
      : `SELECT seq FROM (${parts.join(' UNION ')}) many ${order}`;
  return {
    sql: `SELECT ${columns} FROM (${seqs}) page JOIN txs t USING (seq) ORDER BY seq ${filter.sort}`,
    values: values.list,
  };
}

/** An address is in a transaction as its sender and as a participant. */
const ROWS_OF_ONE = 2;

export function countStatement(query: PlannedQuery): Statement {
  const values = sqlValues();
  const parts = query.sources.map((source) => subSelect(source, query, values));
  const isOne = parts.length === 1 && query.sources[0]?.from === 'txs';
  const sql = isOne
    ? `SELECT count(*) AS count FROM (${parts[0]}) one`
    : `SELECT count(*) AS count FROM (${parts.join(' UNION ')}) many`;
  return { sql, values: values.list };
}
