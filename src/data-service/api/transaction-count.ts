/**
 * Counts of transactions (data-service.md#counts). Types are counted while the chain is crawled,
 * heights and dates follow from ordinals; anything else is counted row by row, up to a limit.
 */
import { lastMs, tooManyToCount, uncountable } from './query-params.ts';
import { heavyRows, requireIndexes, rows, tipOf } from './reading.ts';
import type { DataServices } from './services.ts';
import { isPlain, RANGE_FILTERS, type TransactionFilter } from './transaction-filter.ts';
import {
  COMPARED_MAX,
  type PlannedQuery,
  planQuery,
  rangeOf,
  TIME_TOLERANCE_MS,
} from './transaction-query.ts';
import { countStatement } from './transaction-sql.ts';
import { isEmpty, type Range } from './windows.ts';

/** Entries of an index that has all that is asked for. */
const ENTRIES_MAX = 1_000_000;
/** Rows that are looked up, or found by a part of a text: each costs ten times as much as an entry. */
export const LOOKED_UP_MAX = 50_000;

export async function countTransactions(
  { countTo, ...filter }: TransactionFilter & { readonly countTo: number | undefined },
  services: DataServices,
): Promise<{ count: string }> {
  const counted = { ...filter, index: undefined, sort: 'desc' } as const;
  const { total } = await tipOf(services);
  if (isPlain(counted)) return { count: String(total) };
  if (isPlain(counted, 'type')) return { count: await countOfTypes(counted, services) };
  await requireIndexes(services);
  const ofRange = isPlain(counted, ...RANGE_FILTERS)
    ? await countOfRange(counted, total, services)
    : undefined;
  if (ofRange !== undefined) return { count: String(ofRange) };
  const query = await planQuery(counted, total, services);
  if (query.sources.length === 0) return { count: '0' };
  if (query.rest !== undefined) throw uncountable(COMPARED_MAX, 'transactions');
  const most = hasAllInOneIndex(query) ? ENTRIES_MAX : LOOKED_UP_MAX;
  const end = Math.min(countTo ?? most, most);
  const { sql, values } = countStatement(await withoutDates(query, total, services), end);
  const [found] = await heavyRows<{ count: string }>(services, sql, values);
  const count = Number(found?.count ?? 0);
  if (count > end && end !== countTo) throw tooManyToCount(most);
  return { count: String(count) };
}

const OF_ONE_INDEX: readonly (readonly (keyof TransactionFilter)[])[] = [
  ['sender'],
  ['recipient'],
  ['type', 'assetId', 'amount', 'amountFrom', 'amountTo'],
];

function hasAllInOneIndex({ filter, sources }: PlannedQuery): boolean {
  if (sources.some(({ finding }) => finding === 'by-bucket')) return false;
  const indexes = filter.search === undefined ? OF_ONE_INDEX : [['search', 'scope'] as const];
  return indexes.some((names) => isPlain(filter, ...names, ...RANGE_FILTERS));
}

/**
 * The same in parts, of which the longest is so far inside the dates that no transaction needs to
 * be looked at for its time.
 */
async function withoutDates(
  query: PlannedQuery,
  total: number,
  services: DataServices,
): Promise<readonly PlannedQuery[]> {
  const { filter, range } = query;
  if (filter.dateFrom === undefined) return [query];
  const inner = await rangeOf(filter, total, services, -TIME_TOLERANCE_MS);
  if (isEmpty(inner)) return [query];
  const parts: PlannedQuery[] = [
    { ...query, range: inner, filter: { ...filter, dateFrom: undefined, dateTo: undefined } },
    { ...query, range: { low: range.low, high: inner.low - 1 } },
    { ...query, range: { low: inner.high + 1, high: range.high } },
  ];
  return parts.filter((part) => !isEmpty(part.range));
}

async function countOfTypes({ type = [] }: TransactionFilter, services: DataServices) {
  const sql =
    'SELECT coalesce(sum(n), 0)::text AS count FROM type_counts WHERE type = ANY($1::smallint[])';
  const [found] = await rows<{ count: string }>(services, sql, [[...type]]);
  return found?.count ?? '0';
}

/** Undefined where the dates are too close to each other to have whole blocks between them. */
async function countOfRange(filter: TransactionFilter, total: number, services: DataServices) {
  const outer = await rangeOf(filter, total, services);
  if (isEmpty(outer)) return 0;
  const { dateFrom, dateTo } = filter;
  if (dateFrom === undefined || dateTo === undefined) return sizeOf(outer);
  const inner = await rangeOf(filter, total, services, -TIME_TOLERANCE_MS);
  if (isEmpty(inner)) return undefined;
  const within = async (low: number, high: number): Promise<number> => {
    const [found] = await heavyRows<{ count: string }>(
      services,
      'SELECT count(*) AS count FROM txs WHERE seq BETWEEN $1 AND $2 AND ts BETWEEN $3 AND $4',
      [low, high, dateFrom, lastMs(dateTo)],
    );
    return Number(found?.count ?? 0);
  };
  const edges = await Promise.all([
    within(outer.low, inner.low - 1),
    within(inner.high + 1, outer.high),
  ]);
  return sizeOf(inner) + edges[0]! + edges[1]!;
}

const sizeOf = ({ low, high }: Range): number => high - low + 1;
