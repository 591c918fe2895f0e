/**
 * Amounts as texts, for clients whose JSON parser rounds integers above 2^53 (rest.md#numbers). They
 * ask for it with `Accept: application/json;large-significand-format=string`.
 *
 * The members are known by their names, and an answer is changed as it is printed: JSON without
 * spaces. A name behind `{` or `,` is never inside a text there, where its quote would be escaped.
 */
import type { HttpReply } from '../base/ports/http.ts';
import { Answer, JSON_TYPE } from './answer.ts';
import { type JsonChunks, StreamedAnswer } from './json-chunks.ts';

/** What `Accept` has where a client may ask for it. */
export const QUOTES_MARK = 'large-significand-format';
const PARAMETER = new RegExp(`;\\s*${QUOTES_MARK}\\s*=\\s*"?string"?\\s*(?:[;,]|$)`);
const QUOTED_TYPE = `${JSON_TYPE};${QUOTES_MARK}=string`;

/** Members that are texts in these answers, wherever they are. */
const NAMES = [
  'amount',
  'available',
  'balance',
  'buyMatcherFee',
  'effective',
  'fee',
  'feeAmount',
  'generating',
  'matcherFee',
  'minSponsoredAssetFee',
  'price',
  'quantity',
  'regular',
  'sellMatcherFee',
  'sponsorBalance',
  'totalAmount',
  'value',
];

/** In distributions the names are addresses. */
const ADDRESS = '[1-9A-HJ-NP-Za-km-z]{35,36}';
const AMOUNT = new RegExp(`([{,]"(?:${NAMES.join('|')}|${ADDRESS})":)(-?\\d+)(?![\\d.eE])`, 'g');

/** True where the value of the header asks for texts. */
export const asksForQuotes = (accept: string): boolean =>
  accept.includes(QUOTES_MARK) && PARAMETER.test(accept);

const quoted = (json: string): string => json.replace(AMOUNT, '$1"$2"');

/** No chunk ends between the name of an amount and its value. */
function* quotedChunks(chunks: JsonChunks): Generator<string | undefined> {
  for (const chunk of chunks) yield chunk && quoted(chunk);
}

export const quotedLater = <S>({ make }: StreamedAnswer<S>): StreamedAnswer<S> =>
  new StreamedAnswer((services: S) => quotedChunks(make(services)));

/** The reply with amounts as texts. A long body, which is bytes, was quoted chunk by chunk. */
export function quotedReply(reply: HttpReply): HttpReply {
  const { status, type, body, headers, sent, stream } = reply;
  if (type !== JSON_TYPE) return reply;
  const text = typeof body === 'string' ? quoted(body) : body;
  return new Answer(status, QUOTED_TYPE, text, headers, sent, stream);
}
