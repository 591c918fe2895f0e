/** Part of a list of entries: those whose key is accepted, after `offset`, at most `limit`. */
import type { EntriesQuery } from '../../api/services.ts';

/** Rows that an answer without a limit of its own may hold. */
export const listMax = 1_000_000;

export function* page<E extends { readonly key: string }>(
  entries: Iterable<E>,
  { offset, limit, accepts }: EntriesQuery,
): Generator<E> {
  let skip = offset;
  let left = limit;
  if (left <= 0) return;
  for (const entry of entries) {
    if (accepts !== undefined && !accepts(entry.key)) continue;
    if (skip-- > 0) continue;
    yield entry;
    if (--left === 0) return;
  }
}
