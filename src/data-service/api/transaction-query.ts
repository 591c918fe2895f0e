/** What a list of transactions reads: its sources, and the ordinals between which its rows are. */
import { AUTHOR, PARTICIPANT } from '../crawler/rows/rows.ts';
import { driversOf, ofTxs, roleSources, typeSources } from './filter-sources.ts';
import { blocksTouching } from './lookups/date-blocks.ts';
import { type heavyRows, rows } from './reading.ts';
import { partyIs, type Source, searchSources } from './search-sources.ts';
import type { DataServices } from './services.ts';
import { sqlValues } from './sql-values.ts';
import { isPlain, type TransactionFilter } from './transaction-filter.ts';
import { endOf, type PlannedQuery } from './transaction-sql.ts';
import { cut, isEmpty, type Range, startOf } from './windows.ts';

/** A text that no index knows is compared with those of so many transactions for a page. */
export const COMPARED_MAX = 65_536;

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
  const isCompared = sources.some(({ finding }) => finding === 'compared');
  const [near, rest] = cut(range, filter.sort, isCompared ? COMPARED_MAX : total);
  return {
    sources: isEmpty(range) ? [] : sources,
    filter,
    range: near,
    rest: startOf(rest, filter.sort),
  };
}

/** A page looks at no more rows of a filter for the others. */
export const LOOKED_AT_MAX = 16_384;
/** A filter with no more rows has them all looked at. */
const FEW = 4096;

const OF_ONE_INDEX: readonly (readonly (keyof TransactionFilter)[])[] = [
  ['sender'],
  ['recipient'],
  ['contractId'],
  ['type', 'assetId', 'amount', 'amountFrom', 'amountTo'],
];

/** `planQuery` for a page. Of filters that no index has together, the rarest one near it is read. */
export async function planPage(
  filter: TransactionFilter,
  total: number,
  services: DataServices,
  read: typeof heavyRows = rows,
): Promise<PlannedQuery> {
  const query = await planQuery(filter, total, services);
  const hasIndex = OF_ONE_INDEX.some((names) =>
    isPlain(filter, ...names, 'heightFrom', 'heightTo'),
  );
  if (query.sources.length === 0 || filter.search !== undefined || hasIndex) return query;
  return { ...query, ...(await rarestDriver(query, services, read)) };
}

/** Frequent filters may meet seldom, so a page looks at a number of rows, and not at all of them. */
async function rarestDriver(
  { filter, range }: PlannedQuery,
  services: DataServices,
  read: typeof heavyRows,
): Promise<Pick<PlannedQuery, 'sources' | 'lookedUp'>> {
  const drivers = driversOf(filter);
  const [first = [ofTxs({})]] = drivers;
  const isShort = range.high - range.low < FEW;
  if (drivers.length < 2 || isShort) return { sources: first, lookedUp: LOOKED_AT_MAX };
  const values = sqlValues();
  const ends = drivers.map(
    (sources, i) => `${endOf({ filter, range }, sources, FEW, values)} AS d${i}`,
  );
  const [found] = await read<Record<string, string | null>>(
    services,
    `SELECT ${ends}`,
    values.list,
  );
  const reached = drivers.map((sources, i) => ({ sources, end: found?.[`d${i}`] ?? null }));
  const few = reached.find(({ end }) => end === null);
  if (few !== undefined) return { sources: few.sources, lookedUp: FEW };
  const inOrder = reached.filter(({ sources }) =>
    sources.every(({ order }) => order === undefined),
  );
  const way = ({ end }: { readonly end: string | null }): number =>
    filter.sort === 'desc' ? range.high - Number(end) : Number(end) - range.low;
  const rarest = inOrder.reduce((most, one) => (way(one) > way(most) ? one : most));
  return { sources: rarest.sources, lookedUp: LOOKED_AT_MAX };
}

/** Where the next page begins, of one that is not full; undefined at the end of the list. */
export async function restOf(
  query: PlannedQuery,
  services: DataServices,
  read: typeof heavyRows = rows,
): Promise<number | undefined> {
  const { lookedUp, range, sources } = query;
  if (lookedUp === undefined) return query.rest;
  if (range.high - range.low < lookedUp) return undefined;
  // Few when they were counted, so all are looked at. There may be more now, in no order of ordinals.
  if (sources.some(({ order }) => order !== undefined)) return undefined;
  const values = sqlValues();
  const sql = `SELECT ${endOf(query, sources, lookedUp, values)} AS rest`;
  const [found] = await read<{ rest: string | null }>(services, sql, values.list);
  return found === undefined || found.rest === null ? undefined : Number(found.rest);
}

/** Without a search, the most selective filter with an index. */
function drivingSources(filter: TransactionFilter): readonly Source[] {
  const { sender, recipient, permissions, type } = filter;
  if (recipient !== undefined) return [partyIs(recipient, PARTICIPANT)];
  if (sender !== undefined) return [partyIs(sender, AUTHOR)];
  if (permissions !== undefined) return roleSources(permissions);
  if (type !== undefined && type.length > 1) return typeSources(type);
  // Amounts are in order within an asset and a type, but not in the order of the list.
  const isRange = filter.amountFrom !== undefined || filter.amountTo !== undefined;
  return [{ from: 'txs', finding: isRange ? 'nearest-first' : 'in-order', where: () => 'true' }];
}

/** The ordinals of the blocks of the heights and dates: of those that have some of the dates, or nothing else. */
export async function rangeOf(
  filter: TransactionFilter,
  total: number,
  services: DataServices,
  blocksOf = blocksTouching,
): Promise<Range> {
  const { index, sort, dateFrom, dateTo, heightFrom, heightTo } = filter;
  const lows = [1];
  const highs = [total];
  const lowest: number[] = [];
  const highest: number[] = [];
  if (index !== undefined) (sort === 'desc' ? highs : lows).push(index);
  if (dateFrom !== undefined && dateTo !== undefined) {
    const { first, last } = await blocksOf({ dateFrom, dateTo }, services);
    lowest.push(first);
    highest.push(last);
  }
  if (heightFrom !== undefined) lowest.push(heightFrom);
  if (heightTo !== undefined) highest.push(heightTo);
  if (lowest.length > 0) {
    lows.push((await firstSeq(services, 'height >= $1', Math.max(...lowest))) ?? total + 1);
  }
  if (highest.length > 0) {
    highs.push(((await firstSeq(services, 'height > $1', Math.min(...highest))) ?? total + 1) - 1);
  }
  return { low: Math.max(...lows), high: Math.min(...highs) };
}

async function firstSeq(
  services: DataServices,
  condition: string,
  value: number,
): Promise<number | undefined> {
  const sql = `SELECT first_seq FROM blocks WHERE ${condition} ORDER BY height LIMIT 1`;
  const found = await rows<{ first_seq: string }>(services, sql, [value]);
  return found[0] === undefined ? undefined : Number(found[0].first_seq);
}
