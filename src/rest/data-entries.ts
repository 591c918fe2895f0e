/** Data entries of accounts and contracts: their JSON, and the selection that a client requests. */

import { apiError } from '../base/errors.ts';
import { clientOf } from '../base/ip-range.ts';
import { integer } from '../base/json/json.ts';
import { KEYS_AT_ONCE, type KeyFilter, listsOf } from '../base/ports/patterns.ts';
import { base64 } from '../codec/text.ts';
import type { DataValue } from '../ledger/data-value.ts';
import { print } from '../rest-framework/answer.ts';
import { Int64 } from '../rest-framework/body.ts';
import { listOf, type StreamedAnswer, streamed, textsOf } from '../rest-framework/json-chunks.ts';
import * as params from '../rest-framework/params.ts';
import { type Static, Type } from '../rest-framework/type.ts';
import { limits } from './limits.ts';
import type { Services } from './services.ts';

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
  for (const row of rows) {
    if (skip-- > 0) {
      yield undefined;
      continue;
    }
    yield row;
    if (--left === 0) return;
  }
}

/** The query of a route that lists entries. */
export const entriesQuery = {
  offset: params.optional(params.nonNegative('Entries to skip.'), 0),
  limit: params.optional(params.positive('The most entries to list.'), Infinity),
  matches: params.optional(params.text('Regular expression for the whole key.'), undefined),
};

/** The part of the entries that a query asks for. `address` is that of whoever asks. */
export function queriedEntries(
  rowsIn: (view: Services['view']) => Iterable<EntryRow>,
  { matches, ...query }: EntriesQuery & { readonly matches: string | undefined },
  address: string,
  services: Services,
): StreamedAnswer<Services> | Promise<StreamedAnswer<Services>> {
  return matches === undefined
    ? streamed(({ view }) => listOf(entriesPage(rowsIn(view), query), entryJson))
    : matchingEntries(rowsIn, { ...query, matches }, clientOf(address), services);
}

async function matchingEntries(
  rowsIn: (view: Services['view']) => Iterable<EntryRow>,
  { matches, ...query }: EntriesQuery & { readonly matches: string },
  client: string,
  { keyFilters, snapshot }: Services,
): Promise<StreamedAnswer<Services>> {
  const accepts = await keyFilters.open(matches, client);
  const texts = await keyFilters.inTurn(client, async () => {
    const frozen = snapshot(limits.entryRows);
    try {
      return await matchedEntries(rowsIn(frozen.view), query, accepts);
    } finally {
      frozen.release();
    }
  });
  return streamed(() => textsOf(texts));
}

/** Rejects with ApiError AnswerTooBig where no answer can hold them. */
async function matchedEntries(
  rows: Iterable<EntryRow>,
  { offset, limit }: EntriesQuery,
  accepts: KeyFilter,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let skip = offset;
  let chars = 0;
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
