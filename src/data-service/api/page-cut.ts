/**
 * Pages that are bounded by bytes, too (data-service.md#queries). The store adds up the sizes of the
 * rows in their order and reads none beyond the bound, so neither side ever holds more than a page.
 */
import type { Sort } from './query-params.ts';

/** A page ends with the row with which its texts reach so many bytes. */
export const PAGE_BYTES = 2 * 1024 * 1024;

export interface CutPage {
  /** A sub-select of ordinals named `seq`: those of the page and one more. */
  readonly seqs: string;
  readonly sort: Sort;
  readonly limit: number;
  readonly bytesMax: number;
  /** The bytes of the row with this ordinal, as a scalar sub-select. */
  readonly bytesOf: (seq: string) => string;
}

/**
 * A sub-select with `n`, `seq` and `is_shown`, to be ordered by `n`. It recurses row by row, because
 * a sum over a window would read all rows before the first of them is known to be too many.
 */
export const cutPage = ({ seqs, sort, limit, bytesMax, bytesOf }: CutPage): string =>
  `(WITH RECURSIVE page AS MATERIALIZED (
      SELECT array_agg(seq ORDER BY seq ${sort}) AS seqs FROM ${seqs} found),
    cut(n, bytes) AS (
      SELECT 1, 0::bigint FROM page WHERE seqs IS NOT NULL
      UNION ALL
      SELECT n + 1, bytes + coalesce(${bytesOf('seqs[n]')}, 0) FROM cut, page
      WHERE n < cardinality(seqs) AND bytes < ${bytesMax})
    SELECT n, seqs[n] AS seq, n <= ${limit} AND bytes < ${bytesMax} AS is_shown FROM cut, page)`;

/** A row of a page, or the one that follows it. */
export interface Cut {
  /** Absent where the page is bounded by its rows alone. */
  readonly is_shown?: boolean;
}

export interface Shown<R> {
  readonly shown: readonly R[];
  /** With it the next page begins; undefined at the end of the list. */
  readonly following: R | undefined;
}

export function shownOf<R extends Cut>(found: readonly R[], limit: number): Shown<R> {
  const shown = found.filter(({ is_shown }, i) => i < limit && is_shown !== false);
  return { shown, following: found[shown.length] };
}
