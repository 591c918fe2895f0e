/** Entries whose keys match a pattern, as texts: threads match while the node goes on. */
import { apiError } from '../base/errors.ts';
import { KEYS_AT_ONCE, type KeyFilter, listsOf } from '../base/patterns.ts';
import { print } from './answer.ts';
import { type EntriesQuery, type EntryRow, entryJson } from './data-entries.ts';
import { limits } from './limits.ts';

/** Rejects with ApiError AnswerTooBig where no answer can hold them. */
export async function matchedEntries(
  rows: Iterable<EntryRow>,
  { offset, limit }: EntriesQuery,
  accepts: KeyFilter,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let skip = offset;
  let chars = 0;
  if (limit <= 0) return texts;
  for (const list of listsOf(rows, KEYS_AT_ONCE)) {
    const verdicts = await accepts(list.map(([key]) => key));
    for (const [i, isAccepted] of verdicts.entries()) {
      if (!isAccepted || skip-- > 0) continue;
      const text = print(entryJson(list[i]!));
      texts.push(text);
      chars += text.length;
      if (chars > limits.answer) {
        throw apiError('AnswerTooBig', `it would have more than ${limits.answer} bytes`);
      }
      if (texts.length >= limit) return texts;
    }
  }
  return texts;
}
