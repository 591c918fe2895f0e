/**
 * Pages of rows that an index cannot give in the order of the list (data-service.md#search).
 *
 * Parts of texts are looked up bucket by bucket, beginnings and ranges first among the nearest rows
 * and then everywhere. Each step is a sub-select, and PostgreSQL runs the next one only where the
 * page is not full yet: a frequent text costs a few rows, and a rare one a few lookups.
 */
import { BUCKET_BITS, bucketsOf, LARGE_BUCKET_BITS } from '../schema/tables.ts';
import type { Sort } from './query-params.ts';

/** The ordinals between which all wanted rows are. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** From `index` on, in the direction of the list. */
export const rangeFrom = (index: number | undefined, sort: Sort, last: number): Range =>
  sort === 'desc'
    ? { low: 1, high: Math.min(index ?? last, last) }
    : { low: index ?? 1, high: last };

export const isEmpty = ({ low, high }: Range): boolean => low > high;

/** Its first ordinal in the direction of the list; undefined where it has none. */
export const startOf = (range: Range, sort: Sort): number | undefined => {
  if (isEmpty(range)) return undefined;
  return sort === 'desc' ? range.high : range.low;
};

/** Rows of a page: `seq BETWEEN` the range, in this order, at most so many. */
export interface PageOf {
  readonly range: Range;
  readonly sort: Sort;
  readonly most: number;
}

/** A sub-select of this ordinal, named `seq`, for rows that satisfy one more condition. */
export type Select = (condition: string, ordinal: string, sort?: Sort) => string;

/** So many buckets are looked up one by one, the rest in large buckets. */
const BUCKETS_MAX = 128;

const size = (bits: number): number => 2 ** bits;
export const between = (name: string, { low, high }: Range): string =>
  `${name} BETWEEN ${low} AND ${high}`;

/**
 * In the order of an index that has `ordinal` after the columns of the condition. A sum as the
 * ordinal has no such index, so the planner looks the rows up by the condition and sorts them.
 */
export const inOrder = ({ range, sort, most }: PageOf, ordinal: string, select: Select): string =>
  `(${select(between(ordinal, range), ordinal, sort)} LIMIT ${most})`;

/** A text that one of some dozens of rows has fills a page from so many. */
const WALKED = 512;
/** A text that one of a thousand rows has fills a page from so many. */
const NEAR_BUCKETS = 4;

/** The range, cut after the ordinals that come first in the order of the list. */
export function cut(
  { low, high }: Range,
  sort: Sort,
  after: number,
): readonly [near: Range, rest: Range] {
  return sort === 'desc'
    ? [
        { low: Math.max(low, high - after + 1), high },
        { low, high: high - after },
      ]
    : [
        { low, high: Math.min(high, low + after - 1) },
        { low: low + after, high },
      ];
}

/** By a GIN index with buckets, for rows that are frequent by the statistics of the store. */
export function byBucket(page: PageOf, seq: string, select: Select): string {
  const { range, sort, most } = page;
  const [walked, more] = cut(range, sort, WALKED);
  const [near, rest] = cut(more, sort, BUCKETS_MAX * size(BUCKET_BITS));
  const parts = [inOrder({ ...page, range: walked }, seq, select)];
  if (!isEmpty(more)) parts.push(eachBucket(page, near, seq, select, smallBucket));
  if (!isEmpty(rest)) parts.push(eachBucket(page, rest, seq, select, largeBucket));
  return concatenated(parts, most);
}

/** By the same index, for rows that are few: after the nearest buckets, all the others at once. */
export function fewByBucket(page: PageOf, seq: string, select: Select): string {
  const { range, sort, most } = page;
  const [near, rest] = cut(range, sort, NEAR_BUCKETS * size(BUCKET_BITS));
  const parts = [eachBucket(page, near, seq, select, smallBucket)];
  if (!isEmpty(rest)) parts.push(inOrder({ ...page, range: rest }, `${seq} + 0`, select));
  return concatenated(parts, most);
}

const smallBucket = (seq: number): number => Math.floor(seq / size(BUCKET_BITS));
const largeBucket = (seq: number): number => -1 - Math.floor(seq / size(LARGE_BUCKET_BITS));

function eachBucket(
  { sort, most }: PageOf,
  range: Range,
  seq: string,
  select: Select,
  bucketOf: (seq: number) => number,
): string {
  const ends = [bucketOf(range.low), bucketOf(range.high)];
  const [from, to] = sort === 'asc' ? ends : ends.reverse();
  const step = from! <= to! ? 1 : -1;
  // The sum keeps the planner from walking the primary key instead.
  const condition = `${bucketsOf(seq)} @> ARRAY[bucket] AND ${between(`${seq} + 0`, range)}`;
  return `(SELECT of_one.seq FROM generate_series(${from}, ${to}, ${step}) bucket
    CROSS JOIN LATERAL (${select(condition, `${seq} + 0`, sort)} LIMIT ${most}) of_one
    LIMIT ${most})`;
}

/** Rows that are walked before all are looked up. */
const NEAREST = 4096;

/** First among the nearest ordinals in their order, then among all by the best index. */
export function nearestFirst(
  { range, sort, most }: PageOf,
  ordinal: string,
  select: Select,
): string {
  const [near, rest] = cut(range, sort, NEAREST);
  const first = inOrder({ range: near, sort, most }, ordinal, select);
  if (isEmpty(rest)) return first;
  // The sum keeps the planner from walking the index of the order on.
  return concatenated(
    [first, inOrder({ range: rest, sort, most }, `${ordinal} + 0`, select)],
    most,
  );
}

/** Each part follows the one before it in the order of the list; a full page ends the reading. */
const concatenated = (parts: readonly string[], most: number): string =>
  `(SELECT seq FROM (${parts.join(' UNION ALL ')}) parts LIMIT ${most})`;
