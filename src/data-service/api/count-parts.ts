/**
 * What a count of transactions reads (data-service.md#counts): where one index has all that is asked
 * for, its entries; else the rows of the filter that has the fewest of them.
 */
import { AUTHOR, PARTICIPANT } from '../crawler/rows/rows.ts';
import { type CountPart, isInOrder, sizesStatement, withoutFilters } from './count-statement.ts';
import {
  amountIs,
  assetIs,
  driversOf,
  hasAmounts,
  LOOKED_UP_MAX,
  ofTxs,
  typeSources,
} from './filter-sources.ts';
import { blocksInside } from './lookups/date-blocks.ts';
import { heavyRows } from './reading.ts';
import { partyIs, type Source } from './search-sources.ts';
import type { DataServices } from './services.ts';
import { isPlain, RANGE_FILTERS, type TransactionFilter } from './transaction-filter.ts';
import { rangeOf } from './transaction-query.ts';
import type { PlannedQuery } from './transaction-sql.ts';
import { isEmpty } from './windows.ts';

/** Entries of an index that has all that is asked for. */
export const ENTRIES_MAX = 1_000_000;

const OF_ONE_INDEX: readonly (readonly (keyof TransactionFilter)[])[] = [
  ['sender'],
  ['recipient'],
  ['type', 'assetId', 'amount', 'amountFrom', 'amountTo'],
];

const isByText = ({ finding }: Source): boolean => finding === 'by-bucket';

export function hasAllInOneIndex({ filter, sources }: PlannedQuery): boolean {
  if (sources.some(isByText)) return false;
  const indexes = filter.search === undefined ? OF_ONE_INDEX : [['search', 'scope'] as const];
  return indexes.some((names) => isPlain(filter, ...names, ...RANGE_FILTERS));
}

/** `total` is the highest ordinal. */
export async function countParts(
  query: PlannedQuery,
  total: number,
  services: DataServices,
): Promise<readonly CountPart[]> {
  const { filter, sources } = query;
  if (isPlain(filter, 'search', 'scope', ...RANGE_FILTERS)) {
    return bySmallRanges(await withoutDates({ ...query, sources }, total, services), services);
  }
  if (hasAllInOneIndex(query)) {
    const ofOne = { ...query, sources: indexOf(filter) };
    return bySmallRanges(await withoutDates(ofOne, total, services), services);
  }
  return bySmallRanges(await together(query, services), services);
}

const isOrdered = ({ order }: Source): boolean => order !== undefined;

/**
 * An index in another order than that of the ordinals is read through the whole chain, however few
 * ordinals are asked for. Where it has many entries and they are few, their rows are read instead.
 */
async function bySmallRanges(
  parts: readonly CountPart[],
  services: DataServices,
): Promise<readonly CountPart[]> {
  const isSmall = ({ query: { range }, sources }: CountPart): boolean =>
    sources.some(isOrdered) && range.high - range.low < LOOKED_UP_MAX;
  // All that have such sources have the same ones.
  const small = parts.find(isSmall);
  if (small === undefined) return parts;
  const ordered = small.sources.filter(isOrdered);
  const { sql, values } = sizesStatement(small.query, [ordered]);
  const [found] = await heavyRows<{ sizes: readonly number[] }>(services, sql, values);
  if (found!.sizes[0]! <= LOOKED_UP_MAX) return parts;
  return parts.flatMap((part) => {
    if (!isSmall(part)) return [part];
    const sources = part.sources.filter((source) => !isOrdered(source));
    const looks = part.looks === 'nothing' ? 'ordinals' : part.looks;
    // A transaction may have several rows, but is looked at once.
    const ofRange = { ...part, sources: ordered, looks, byRange: true, readMax: ENTRIES_MAX };
    return sources.length === 0 ? [ofRange] : [{ ...part, sources }, ofRange];
  });
}

/**
 * The same in parts, of which the longest is so far inside the dates that no transaction needs to
 * be looked at for its time.
 */
async function withoutDates(
  query: PlannedQuery,
  total: number,
  services: DataServices,
): Promise<readonly CountPart[]> {
  const { filter, range, sources } = query;
  const { dateFrom, dateTo } = filter;
  const atEnd = (low: number, high: number): CountPart => ({
    query: {
      ...query,
      range: { low, high },
      filter: { ...withoutFilters(filter), dateFrom, dateTo },
    },
    sources,
    looks: 'filters',
    readMax: LOOKED_UP_MAX,
  });
  const inner =
    dateFrom === undefined ? range : await rangeOf(filter, total, services, blocksInside);
  if (isEmpty(inner)) return [atEnd(range.low, range.high)];
  const isWhole = inner.low <= 1 && inner.high >= total;
  const within: CountPart = {
    query: { ...query, range: inner },
    sources,
    looks: isWhole || isInOrder(sources) ? 'nothing' : 'ordinals',
    readMax: sources.some(isByText) ? LOOKED_UP_MAX : ENTRIES_MAX,
  };
  if (dateFrom === undefined) return [within];
  const ends = [atEnd(range.low, inner.low - 1), atEnd(inner.high + 1, range.high)];
  return [within, ...ends.filter((end) => !isEmpty(end.query.range))];
}

/** The rows of the filter that has the fewest, or of the search where no filter has few. */
async function together(
  query: PlannedQuery,
  services: DataServices,
): Promise<readonly CountPart[]> {
  const { filter, sources } = query;
  const known = driversOf(filter);
  const sizes = await sizesOf(query, known, services);
  const least = sizes.indexOf(Math.min(...sizes));
  const [driver, size] = [known[least]!, sizes[least]!];
  const part = { query, readMax: LOOKED_UP_MAX, looks: 'filters' } as const;
  if (filter.search === undefined) return [{ ...part, sources: driver }];
  if (size > LOOKED_UP_MAX) return [{ ...part, sources }];
  // Those of a beginning of a text cannot be looked up by their transactions.
  const byBeginning = sources.filter(isOrdered);
  const others = sources.filter((source) => !isOrdered(source));
  return [
    ...(byBeginning.length === 0 ? [] : [{ ...part, sources: byBeginning }]),
    ...(others.length === 0 ? [] : [{ ...part, sources: driver, looks: others }]),
  ];
}

async function sizesOf(
  query: PlannedQuery,
  known: readonly (readonly Source[])[],
  services: DataServices,
): Promise<readonly number[]> {
  if (known.length === 1 && query.filter.search === undefined) return [0];
  const { sql, values } = sizesStatement(query, known);
  const [found] = await heavyRows<{ sizes: readonly number[] }>(services, sql, values);
  return found!.sizes;
}

/** All entries that are asked for, where one index has them. */
function indexOf(filter: TransactionFilter): readonly Source[] {
  const { recipient, sender, type, assetId } = filter;
  if (recipient !== undefined) return [partyIs(recipient, PARTICIPANT)];
  if (sender !== undefined) return [partyIs(sender, AUTHOR)];
  if (hasAmounts(filter)) return [amountIs(filter)];
  if (assetId !== undefined) return assetIs(filter);
  return type === undefined ? [ofTxs({})] : typeSources(type);
}
