/**
 * Part of a list of entries: those whose key is accepted, after `offset`, at most `limit`. Each one
 * that is passed over gives undefined, so that the caller may pause there.
 */
import type { EntriesQuery } from '../../api/reads.ts';

/** Rows that an answer without a limit of its own may hold. */
export const listMax = 1_000_000;

export function* page<E extends { readonly key: string }>(
  entries: Iterable<E>,
  { offset, limit, accepts }: EntriesQuery,
): Generator<E | undefined> {
  let skip = offset;
  let left = limit;
  if (left <= 0) return;
  for (const entry of entries) {
    if ((accepts !== undefined && !accepts(entry.key)) || skip-- > 0) {
      yield undefined;
      continue;
    }
    yield entry;
    if (--left === 0) return;
  }
}
