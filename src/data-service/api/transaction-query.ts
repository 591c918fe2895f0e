/** What a list of transactions reads: its sources, and the ordinals between which its rows are. */
import { AUTHOR, PARTICIPANT } from '../crawler/rows.ts';
import { lastMs } from './query-params.ts';
import { rows } from './reading.ts';
import { partyIs, type Source, searchSources } from './search-sources.ts';
import type { DataServices } from './services.ts';
import type { TransactionFilter } from './transaction-filter.ts';
import { cut, isEmpty, type Range, startOf } from './windows.ts';

/** A transaction's time may differ that much from its block's. */
export const TIME_TOLERANCE_MS = 2 * 3_600_000;

export interface PlannedQuery {
  readonly sources: readonly Source[];
  readonly filter: TransactionFilter;
  /** Of this page. */
  readonly range: Range;
  /** Where the next page begins if this one is not full; undefined at the end of the list. */
  readonly rest: number | undefined;
}

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

export const roleSources = (roles: readonly string[]): readonly Source[] =>
  roles.map((role) => ({
    from: 'permission_ops',
    finding: 'in-order',
    where: (values) => `s.role = ${values.add(role)}`,
  }));

/** Each type has its own run in the index. */
export const typeSources = (types: readonly number[]): readonly Source[] =>
  types.map((type) => ({
    from: 'txs',
    finding: 'in-order',
    where: (values) => `s.type = ${values.add(type, 'smallint')}`,
  }));

/**
 * The ordinals of all transactions of the dates and heights. With a negative tolerance, those of
 * blocks so far inside the dates that all their transactions are inside, too.
 */
export async function rangeOf(
  filter: TransactionFilter,
  total: number,
  services: DataServices,
  toleranceMs = TIME_TOLERANCE_MS,
): Promise<Range> {
  const { index, sort, dateFrom, dateTo, heightFrom, heightTo } = filter;
  const lows = [1];
  const highs = [total];
  if (index !== undefined) (sort === 'desc' ? highs : lows).push(index);
  if (dateFrom !== undefined && dateTo !== undefined) {
    const first = await firstSeq(services, 'ts >= $1 ORDER BY ts, height', dateFrom - toleranceMs);
    const after = await firstSeq(
      services,
      'ts > $1 ORDER BY ts, height',
      lastMs(dateTo) + toleranceMs,
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
