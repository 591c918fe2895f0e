/**
 * The blocks of dates. The time of a transaction is near that of its block, unless the network paused or transactions
 * may be old: then the block has a row in `block_spans`, which says how far its times reach.
 */
import { SPAN, TIME_TOLERANCE_MS } from '../../schema/tables.ts';
import { lastMs } from '../query-params.ts';
import { rows } from '../reading.ts';
import type { DataServices } from '../services.ts';

interface Dates {
  readonly dateFrom: number;
  /** The last day, included. */
  readonly dateTo: number;
}

/** Heights; none where `first` is above `last`. */
interface Blocks {
  readonly first: number;
  readonly last: number;
}

interface Found {
  readonly first: number | null;
  readonly last: number | null;
  readonly from_least: number | null;
  readonly from_most: number | null;
  readonly to_least: number | null;
  readonly to_most: number | null;
}

const ABOVE_ALL = 2_147_483_647;

const reachingTo = (time: string, name: string): string =>
  `(SELECT min(height) AS ${name}_least, max(height) AS ${name}_most FROM block_spans
    WHERE ${SPAN} @> ${time}::bigint) reaching_${name}`;

const FIND = `
  SELECT (SELECT height FROM blocks WHERE ts >= $1 ORDER BY ts, height LIMIT 1) AS first,
    (SELECT height FROM blocks WHERE ts <= $2 ORDER BY ts DESC, height DESC LIMIT 1) AS last,
    reaching_from.*, reaching_to.*
  FROM ${reachingTo('$3', 'from')} CROSS JOIN ${reachingTo('$4', 'to')}`;

const find = async (
  { dateFrom, dateTo }: Dates,
  services: DataServices,
  toleranceMs: number,
  beyondMs: number,
): Promise<Found> => {
  const [from, to] = [dateFrom, lastMs(dateTo)];
  const times = [from - toleranceMs, to + toleranceMs, from - beyondMs, to + beyondMs];
  const [found] = await rows<Found>(services, FIND, times);
  return found!;
};

/** Among their transactions are all of the dates. */
export async function blocksTouching(dates: Dates, services: DataServices): Promise<Blocks> {
  const found = await find(dates, services, TIME_TOLERANCE_MS, 0);
  return {
    first: Math.min(found.first ?? ABOVE_ALL, found.from_least ?? ABOVE_ALL),
    last: Math.max(found.last ?? 0, found.to_most ?? 0),
  };
}

/** All their transactions are of the dates. */
export async function blocksInside(dates: Dates, services: DataServices): Promise<Blocks> {
  const found = await find(dates, services, -TIME_TOLERANCE_MS, 1);
  return {
    first: Math.max(found.first ?? ABOVE_ALL, (found.from_most ?? 0) + 1),
    last: Math.min(found.last ?? 0, (found.to_least ?? ABOVE_ALL) - 1),
  };
}
