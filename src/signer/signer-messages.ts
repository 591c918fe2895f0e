/**
 * What a node and its signer send each other (docs/protocol/signer.md). Each message is a frame: u4 length, then
 * that many bytes.
 *
 *   question  u4 id | u1 0      | u2 version | u1 chain id | b32 header hash of the genesis block
 *             u4 id | u1 kind   | b26 address | text16 password | the bytes to sign
 *   answer    u4 id | u1 0      | u2 count, count × public key   to a greeting
 *             u4 id | u1 0      | b64 signature                  to anything else
 *             u4 id | u1 1      | text16 why: refused
 *             u4 id | u1 2      no such key, or a wrong password
 *
 * Decoders throw CodecError and nothing else.
 */

import { SIGNED_KINDS, type SignedKind } from '../base/signer/signing.ts';
import { ADDRESS_BYTES, DIGEST_BYTES, SIGNATURE_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../codec/codec.ts';
import { text16 } from '../codec/primitives.ts';
import { scratch } from '../codec/scratch.ts';

export const SIGNER_VERSION = 1;
/** Keys of one signer. */
export const KEYS_MAX = 1000;
const PASSWORD_BYTES_MAX = 1024;
const WHY_BYTES_MAX = 512;
/** What a question has beside the bytes to sign. */
export const QUESTION_BYTES_MAX = 5 + ADDRESS_BYTES + 2 + PASSWORD_BYTES_MAX;

export interface Greeting {
  readonly version: number;
  readonly chainId: number;
  readonly genesis: Uint8Array;
  /** The hash of the settings by which turns are computed; absent from nodes of earlier releases. */
  readonly consensus?: Uint8Array;
}

export interface ToSign {
  readonly kind: SignedKind;
  readonly address: Uint8Array;
  /** Empty: none. */
  readonly password: string;
  readonly message: Uint8Array;
}

export type Question = { readonly id: number } & (
  | { readonly greeting: Greeting }
  | { readonly toSign: ToSign }
);

export type Answer =
  | { readonly keys: readonly Uint8Array[] }
  | { readonly signature: Uint8Array }
  | { readonly refused: string }
  | { readonly noKey: true };

const GREETING = 0;
const [DONE, REFUSED, NO_KEY] = [0, 1, 2];
const password = text16(PASSWORD_BYTES_MAX);
const why = text16(WHY_BYTES_MAX);

export function encodeQuestion(question: Question, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u32(question.id);
  if ('greeting' in question) {
    const { version, chainId, genesis, consensus } = question.greeting;
    out.u8(GREETING);
    out.u16(version);
    out.u8(chainId);
    out.bytes(genesis);
    if (consensus !== undefined) out.bytes(consensus);
    return out.take();
  }
  const { toSign } = question;
  out.u8(SIGNED_KINDS.indexOf(toSign.kind) + 1);
  out.bytes(toSign.address);
  password.write(out, toSign.password);
  out.bytes(toSign.message);
  return out.take();
}

export function decodeQuestion(bytes: Uint8Array, scheme: ChainScheme): Question {
  const src = new Reader(bytes, scheme);
  const id = src.u32();
  const number = src.u8();
  if (number === GREETING) {
    const greeting = { version: src.u16(), chainId: src.u8(), genesis: src.bytes(DIGEST_BYTES) };
    // A later version may say more.
    if (src.remaining < DIGEST_BYTES) return { id, greeting };
    return { id, greeting: { ...greeting, consensus: src.bytes(DIGEST_BYTES) } };
  }
  const kind = SIGNED_KINDS[number - 1];
  if (kind === undefined) throw new CodecError('kind', `${number} is none`);
  const address = src.bytes(ADDRESS_BYTES);
  const given = password.read(src);
  return { id, toSign: { kind, address, password: given, message: src.bytes(src.remaining) } };
}

export function encodeAnswer(id: number, answer: Answer, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u32(id);
  if ('refused' in answer) {
    out.u8(REFUSED);
    why.write(out, answer.refused.slice(0, WHY_BYTES_MAX / 4));
  } else if ('noKey' in answer) out.u8(NO_KEY);
  else {
    out.u8(DONE);
    if ('signature' in answer) out.bytes(answer.signature);
    else {
      out.u16(answer.keys.length);
      for (const key of answer.keys) out.bytes(key);
    }
  }
  return out.take();
}

/** `isGreeting`: what was asked under an id tells how its answer is read. */
export function decodeAnswer(
  bytes: Uint8Array,
  scheme: ChainScheme,
  isGreeting: (id: number) => boolean,
): { readonly id: number; readonly answer: Answer } {
  const src = new Reader(bytes, scheme);
  const id = src.u32();
  const answer = readAnswer(src, isGreeting(id));
  src.finish();
  return { id, answer };
}

function readAnswer(src: Reader, isGreeting: boolean): Answer {
  const outcome = src.u8();
  if (outcome === REFUSED) return { refused: why.read(src) };
  if (outcome === NO_KEY) return { noKey: true };
  if (outcome !== DONE) throw new CodecError('outcome', `${outcome} is none`);
  if (!isGreeting) return { signature: src.bytes(SIGNATURE_BYTES).slice() };
  const count = src.u16();
  if (count > KEYS_MAX) throw new CodecError('keys', `${count} are more than ${KEYS_MAX}`);
  const size = src.scheme.publicKeySize;
  return { keys: Array.from({ length: count }, () => src.bytes(size).slice()) };
}
