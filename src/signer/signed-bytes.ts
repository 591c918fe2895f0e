/**
 * Reads the bytes that somebody wants to be signed. A signer reads each kind by itself, so that nobody gets a block
 * or a vote signed as something else.
 *
 * Invariant: bytes that can be read as two kinds are refused.
 */
import { concat, equal, fromUtf8 } from '../base/bytes.ts';
import type { SignedKind } from '../base/signer/signing.ts';
import { DIGEST_BYTES, SIGNATURE_BYTES } from '../base/sizes.ts';
import { decodeBlock } from '../block/block.ts';
import { BOUND_VERSION, decodeLink, type Header } from '../block/header.ts';
import { readTurn, type Turn } from '../block/turn-claims.ts';
import { type ChainScheme, CodecError, Reader } from '../codec/codec.ts';
import { readVote, type Vote } from '../finality/votes/vote.ts';
import { allTypes, decodeStoredTx } from '../tx/registry.ts';
import { atomic } from '../tx/types/120-atomic.ts';

export type SignedContent =
  | { readonly kind: 'block'; readonly header: Header }
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'vote'; readonly vote: Vote }
  /** `sender` is absent where somebody else adds a signature: 120. */
  | { readonly kind: 'transaction'; readonly type: number; readonly sender: Uint8Array | undefined }
  | { readonly kind: 'status'; readonly sender: Uint8Array }
  | { readonly kind: 'identity' }
  | { readonly kind: 'text' };

/** The key that a status record names. Throws CodecError. */
export type ReadStatus = (signed: Uint8Array) => Uint8Array;

/** Throws CodecError where the bytes are not of this kind, or might be of another one, too. */
export function readSigned(
  kind: SignedKind,
  message: Uint8Array,
  scheme: ChainScheme,
  readStatus: ReadStatus,
): SignedContent {
  const read = readers(scheme, readStatus);
  const content = read[kind](message);
  for (const other of GUARDED) {
    if (other !== kind && isReadable(() => read[other](message))) {
      throw new CodecError(kind, `these bytes are a ${other}, too`);
    }
  }
  return content;
}

/** What must not be signed as anything else. Any text may be of the last kinds. */
const GUARDED: readonly SignedKind[] = ['block', 'turn', 'vote', 'transaction', 'identity'];

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (cause) {
    if (cause instanceof CodecError) return false;
    throw cause;
  }
}

/** Proofs of identity and of transfers between nodes begin so. */
const IDENTITY = 'permchain-';
const NO_SIGNATURE = new Uint8Array(SIGNATURE_BYTES);

type Readers = { readonly [K in SignedKind]: (message: Uint8Array) => SignedContent };

const readers = (scheme: ChainScheme, readStatus: ReadStatus): Readers => ({
  block: (message) => ({ kind: 'block', header: readHeader(message, scheme) }),
  turn: (message) => ({ kind: 'turn', turn: readTurn(message, scheme) }),
  vote: (message) => ({ kind: 'vote', vote: readVote(message, scheme) }),
  transaction: (message) => ({ kind: 'transaction', ...readTransaction(message, scheme) }),
  status: (message) => ({ kind: 'status', sender: readStatus(message) }),
  identity: (message) => {
    const isOne = IDENTITY.split('').every((letter, i) => message[i] === letter.charCodeAt(0));
    if (!isOne) throw new CodecError('identity', 'no proof of identity');
    return { kind: 'identity' };
  },
  text: (message) => {
    if (fromUtf8(message) === undefined) throw new CodecError('text', 'no text in UTF-8');
    return { kind: 'text' };
  },
});

/** Version 100 signs its header alone, every other one the whole block. */
function readHeader(message: Uint8Array, scheme: ChainScheme): Header {
  const bytes = concat(message, NO_SIGNATURE);
  return message[0] === BOUND_VERSION
    ? decodeLink(bytes, scheme)
    : decodeBlock(bytes, scheme).header;
}

/** Proofs of version 1, none. */
const NO_PROOFS = Uint8Array.of(1, 0, 0);

function readTransaction(message: Uint8Array, scheme: ChainScheme) {
  const [type] = message;
  if (type === atomic.type) return readSeal(message, scheme);
  for (const bytes of formsOf(message)) {
    try {
      const tx = decodeStoredTx(bytes, scheme);
      return { type: tx.type, sender: tx.senderPublicKey };
    } catch (cause) {
      if (!(cause instanceof CodecError)) throw cause;
    }
  }
  throw new CodecError('transaction', 'no transaction');
}

/** The whole transactions, without a signature, of which these may be the signed bytes. */
function* formsOf(message: Uint8Array): Generator<Uint8Array> {
  for (const body of [message, ...PREFIXES.flatMap((prefix) => without(prefix, message))]) {
    yield concat(Uint8Array.of(0), body, NO_PROOFS);
    yield concat(body, NO_PROOFS);
    yield concat(body, NO_SIGNATURE);
    yield concat(body.subarray(0, 1), NO_SIGNATURE, body);
  }
}

const PREFIXES = allTypes.flatMap(({ layouts }) =>
  layouts.flatMap(({ signedPrefix }) => (signedPrefix === undefined ? [] : [signedPrefix])),
);

const without = (prefix: Uint8Array, message: Uint8Array): Uint8Array[] =>
  equal(message.subarray(0, prefix.length), prefix) ? [message.subarray(prefix.length)] : [];

/** 120: type, version, sender, the ids of its members, time; the generator adds ids of results. */
function readSeal(message: Uint8Array, scheme: ChainScheme) {
  const src = new Reader(message, scheme);
  const type = src.u8();
  const version = src.u8();
  if (!atomic.layouts.some((layout) => layout.version === version)) {
    throw new CodecError('transaction', `version ${version} of type ${type}`);
  }
  src.bytes(scheme.publicKeySize);
  const count = src.u16();
  src.bytes(count * DIGEST_BYTES);
  src.u53();
  if (src.remaining % DIGEST_BYTES !== 0 || src.remaining > count * DIGEST_BYTES) {
    throw new CodecError('transaction', 'an atomic transaction with wrong results');
  }
  return { type, sender: undefined };
}
