/**
 * Counts of transactions (data-service.md#counts). Types are counted while the chain is crawled,
 * heights and dates follow from ordinals; anything else is counted row by row, up to a limit of those
 * that are read.
 */
import { countParts, ENTRIES_MAX, hasAllInOneIndex } from './count-parts.ts';
import { countStatement } from './count-statement.ts';
import { LOOKED_UP_MAX } from './filter-sources.ts';
import { blocksInside } from './lookups/date-blocks.ts';
import { lastMs, tooManyToCount, tooManyToLookAt, uncountable } from './query-params.ts';
import { heavyRows, requireIndexes, rows, tipOf } from './reading.ts';
import type { DataServices } from './services.ts';
import { isPlain, RANGE_FILTERS, type TransactionFilter } from './transaction-filter.ts';
import { COMPARED_MAX, planQuery, rangeOf } from './transaction-query.ts';
import { isEmpty, type Range } from './windows.ts';

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
  const { sql, values } = countStatement(await countParts(query, total, services), end);
  const [found] = await heavyRows<{ count: string; cutAt: number | null }>(services, sql, values);
  const count = Number(found?.count ?? 0);
  if (found !== undefined && found.cutAt !== null) throw tooManyToLookAt(found.cutAt);
  if (count > end && end !== countTo) throw tooManyToCount(most);
  return { count: String(count) };
}

async function countOfTypes({ type = [] }: TransactionFilter, services: DataServices) {
  const sql =
    'SELECT coalesce(sum(n), 0)::text AS count FROM type_counts WHERE type = ANY($1::smallint[])';
  const [found] = await rows<{ count: string }>(services, sql, [[...type]]);
  return found?.count ?? '0';
}

/**
 * Undefined where the dates are too close to each other to have whole blocks between them, or where
 * there is too much near their ends.
 */
async function countOfRange(filter: TransactionFilter, total: number, services: DataServices) {
  const outer = await rangeOf(filter, total, services);
  if (isEmpty(outer)) return 0;
  const { dateFrom, dateTo } = filter;
  if (dateFrom === undefined || dateTo === undefined) return sizeOf(outer);
  const inner = await rangeOf(filter, total, services, blocksInside);
  if (isEmpty(inner) || sizeOf(outer) - sizeOf(inner) > ENTRIES_MAX) return undefined;
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
