/** Pairs of votes that contradict each other as JSON (finality.md#contradictions): bytes are Base64. */
import { isObject } from '../../base/json/json.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { base64 } from '../../codec/text.ts';
import type { Contradiction } from './evidence.ts';
import { decodeVote, encodeVote, type SignedVote } from './vote.ts';

/** The most bytes of a vote, with room for the keys of either family. */
const BYTES_MAX = 1024;

export interface EvidenceJson {
  readonly address: string;
  readonly first: string;
  readonly second: string;
}

export const evidenceToJson = (
  [first, second]: Contradiction,
  scheme: ChainScheme,
): EvidenceJson => ({
  address: scheme.addressToText(scheme.addressOf(first.voter)),
  first: base64.encode(encodeVote(first, scheme)),
  second: base64.encode(encodeVote(second, scheme)),
});

/** Ignores other fields. Throws CodecError. */
export function evidenceFromJson(json: unknown, scheme: ChainScheme): Contradiction {
  if (!isObject(json)) throw new CodecError('evidence', 'no object');
  return [voteOf(json['first'], scheme), voteOf(json['second'], scheme)];
}

function voteOf(text: unknown, scheme: ChainScheme): SignedVote {
  if (typeof text !== 'string') throw new CodecError('evidence', 'a vote is a text in Base64');
  let bytes: Uint8Array;
  try {
    bytes = base64.decode(text, BYTES_MAX);
  } catch (cause) {
    throw new CodecError('evidence', `no Base64: ${String(cause)}`);
  }
  return decodeVote(bytes, scheme);
}
