/**
 * A node that does not find itself in its own state asks for the keys of its peers
 * (network.md#first-start-of-a-node, H-24), on one stream without a handshake:
 *
 *   ←  challenge 32
 *   →  address 26 | timestamp 8 | signature 64
 *   ←  0 | owner key k            the key of the one who was asked
 *      1 | text 2+n               the address is not registered
 *      2 | text 2+n               the signature is wrong
 *      3 | text 2+n               no answer is possible now
 *
 * signed: "permchain-id-v1" | address | challenge | timestamp 8 | length 1, transport id of the one
 * who asks | length 1, transport id of the one who is asked.
 */

import { concat, utf8 } from '../../base/bytes.ts';
import { ADDRESS_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader, type ValueOf } from '../../codec/codec.ts';
import { bytes, millis, text16 } from '../../codec/primitives.ts';
import { scratch } from '../../codec/scratch.ts';
import { struct } from '../../codec/struct.ts';
import { hex } from '../../codec/text.ts';

export const IDENTITY = 'id/1.0.0';
export const IDENTITY_BYTES_MAX = 600;
export const CHALLENGE_BYTES = 32;
const REASON_BYTES_MAX = 500;

const question = struct({
  address: bytes(ADDRESS_BYTES, hex),
  timestamp: millis,
  signature: bytes(SIGNATURE_BYTES, hex),
});
export type Question = ValueOf<typeof question>;

const REFUSALS = ['not-registered', 'wrong-signature', 'no-state'] as const;
export type IdentityRefusal = (typeof REFUSALS)[number];
export type Answer =
  | { readonly key: Uint8Array }
  | { readonly refusal: IdentityRefusal; readonly why: string };

const reason = text16(REASON_BYTES_MAX);

export function encodeQuestion(value: Question, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  question.write(out, value);
  return out.take();
}

/** Throws CodecError. */
export function decodeQuestion(message: Uint8Array, scheme: ChainScheme): Question {
  const src = new Reader(message, scheme);
  const value = question.read(src);
  src.finish();
  return value;
}

export function encodeAnswer(answer: Answer, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  if ('key' in answer) {
    out.u8(0);
    out.bytes(answer.key);
  } else {
    out.u8(REFUSALS.indexOf(answer.refusal) + 1);
    reason.write(out, answer.why);
  }
  return out.take();
}

/** Throws CodecError. */
export function decodeAnswer(message: Uint8Array, scheme: ChainScheme): Answer {
  const src = new Reader(message, scheme);
  const tag = src.u8();
  const refusal = REFUSALS[tag - 1];
  if (tag !== 0 && refusal === undefined) throw new CodecError('bytes', `${tag} is no answer`);
  const answer =
    refusal === undefined
      ? { key: src.bytes(scheme.publicKeySize) }
      : { refusal, why: reason.read(src) };
  src.finish();
  return answer;
}

export interface Asked {
  readonly address: Uint8Array;
  readonly challenge: Uint8Array;
  readonly timestamp: number;
  readonly askerId: Uint8Array;
  readonly askedId: Uint8Array;
}

export function signedForIdentity(asked: Asked, scheme: ChainScheme): Uint8Array {
  const { address, challenge, timestamp, askerId, askedId } = asked;
  const out = scratch(scheme);
  out.u53(timestamp);
  return concat(
    utf8('permchain-id-v1'),
    address,
    challenge,
    out.take(),
    Uint8Array.of(askerId.length),
    askerId,
    Uint8Array.of(askedId.length),
    askedId,
  );
}
