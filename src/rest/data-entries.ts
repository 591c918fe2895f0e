/** Data entries of accounts and contracts: their JSON, and the selection that a client requests. */

import { apiError } from '../base/errors.ts';
import { integer } from '../base/json/json.ts';
import { KEYS_AT_ONCE, type KeyFilter, listsOf } from '../base/ports/patterns.ts';
import { base64 } from '../codec/text.ts';
import type { DataValue } from '../ledger/data-value.ts';
import { print } from '../rest-framework/answer.ts';
import { Int64 } from '../rest-framework/body.ts';
import { type Static, Type } from '../rest-framework/type.ts';
import { limits } from './limits.ts';

export type EntryRow = readonly [key: string, value: DataValue];

export const EntryShape = Type.Object({
  key: Type.String(),
  type: Type.Union([
    Type.Literal('integer'),
    Type.Literal('boolean'),
    Type.Literal('binary'),
    Type.Literal('string'),
  ]),
  value: Type.Unsafe<unknown>({
    description: 'As `type` says; binary as Base64 with the prefix base64:.',
    anyOf: [Int64, Type.Boolean(), Type.String()],
  }),
});

export function entryJson([key, value]: EntryRow): Static<typeof EntryShape> {
  return { key, type: value.type, value: valueJson(value) };
}

function valueJson({ type, value }: DataValue): unknown {
  if (type === 'integer') return integer(value);
  return type === 'binary' ? base64.encode(value) : value;
}

/** The requested part of the entries of an account or contract. */
export interface EntriesQuery {
  readonly offset: number;
  readonly limit: number;
}

/**
 * The rows after `offset`, at most `limit`. Each skipped row gives undefined,
 * so that the caller may pause there.
 */
export function* entriesPage(
  rows: Iterable<EntryRow>,
  { offset, limit }: EntriesQuery,
): Generator<EntryRow | undefined> {
  let skip = offset;
  let left = limit;
  if (left <= 0) return;
  for (const row of rows) {
    if (skip-- > 0) {
      yield undefined;
      continue;
    }
    yield row;
    if (--left === 0) return;
  }
}

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
