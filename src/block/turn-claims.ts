/**
 * Which miners made a block in their turns, although the chain does not have it
 * (consensus.md#turn-claims). The signature of a block covers its transactions, so a header alone proves
 * nothing. A block after skipped rounds therefore has a second signature, over its turn: where it
 * loses, a child of the winner carries its turn with that signature.
 *
 *   b64 signature of the turn of this block, by its generator
 *   u1  count, count × lost turn:
 *       i8  timestamp       of the block that lost
 *       b64 reference       of that block
 *           generator       public key
 *       b64 signature       of its turn
 *
 * Signed are `u1 255, "turn", i8 timestamp, b64 reference, generator`; no transaction and no block
 * begins so.
 */
import { equal, utf8 } from '../base/bytes.ts';
import type { SignatureCheck } from '../base/ports/verifier.ts';
import { SIGNATURE_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';

export const LOST_TURNS_MAX = 4;

/** The turn of a block: that of a miner, on a parent, at a time. */
export interface Turn {
  readonly timestamp: number;
  /** Id of the parent. */
  readonly reference: Uint8Array;
  /** Public key. */
  readonly generator: Uint8Array;
}

export interface LostTurn extends Turn {
  readonly signature: Uint8Array;
}

export interface TurnClaims {
  /** The generator's signature over the turn of this block. */
  readonly own: Uint8Array;
  /** Ascending by time. */
  readonly lost: readonly LostTurn[];
}

const TIMESTAMP_BYTES = 8;
const PREFIX = Uint8Array.of(255, ...utf8('turn'));

const lostBytes = ({ publicKeySize }: ChainScheme): number =>
  TIMESTAMP_BYTES + SIGNATURE_BYTES + publicKeySize + SIGNATURE_BYTES;

export const claimsLength = ({ lost }: TurnClaims, scheme: ChainScheme): number =>
  SIGNATURE_BYTES + 1 + lost.length * lostBytes(scheme);

export function writeClaims(out: Writer, { own, lost }: TurnClaims): void {
  out.bytes(own);
  out.u8(lost.length);
  for (const turn of lost) {
    writeTurn(out, turn);
    out.bytes(turn.signature);
  }
}

/** `length` is that of all claims. Throws CodecError; byte fields of the result are views. */
export function readClaims(src: Reader, length: number): TurnClaims {
  const own = src.bytes(SIGNATURE_BYTES);
  const count = src.u8();
  if (count > LOST_TURNS_MAX || length !== SIGNATURE_BYTES + 1 + count * lostBytes(src.scheme)) {
    throw new CodecError('claims', `${count} lost turns in ${length} bytes`);
  }
  const lost = Array.from({ length: count }, () => ({
    timestamp: src.u53(),
    reference: src.bytes(SIGNATURE_BYTES),
    generator: src.bytes(src.scheme.publicKeySize),
    signature: src.bytes(SIGNATURE_BYTES),
  }));
  return { own, lost };
}

/** A header that may have claims. */
interface Claiming extends Turn {
  readonly consensus:
    | { readonly kind: 'poa'; readonly claims?: TurnClaims }
    | { readonly kind: 'pos' };
}

function writeTurn(out: Writer, { timestamp, reference, generator }: Turn): void {
  out.u53(timestamp);
  out.bytes(reference);
  out.bytes(generator);
}

/** What the generator signs for its turn. */
export function turnBytes(turn: Turn, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.bytes(PREFIX);
  writeTurn(out, turn);
  return out.take();
}

/** Reads what a generator signs for its turn, and nothing else. Throws CodecError. */
export function readTurn(bytes: Uint8Array, scheme: ChainScheme): Turn {
  const src = new Reader(bytes, scheme);
  if (!equal(src.bytes(PREFIX.length), PREFIX)) throw new CodecError('turn', 'no turn');
  const timestamp = src.u53();
  const reference = src.bytes(SIGNATURE_BYTES);
  const turn = { timestamp, reference, generator: src.bytes(scheme.publicKeySize) };
  src.finish();
  return turn;
}

/** The turn of a block, where a child of its rival may carry it. */
export function lostTurnOf(header: Claiming): LostTurn | undefined {
  const { timestamp, reference, generator, consensus } = header;
  const claims = consensus.kind === 'poa' ? consensus.claims : undefined;
  return claims && { timestamp, reference, generator, signature: claims.own };
}

export const turnCheck = (turn: LostTurn, scheme: ChainScheme): SignatureCheck => ({
  publicKey: turn.generator,
  message: turnBytes(turn, scheme),
  signature: turn.signature,
});

/** The signatures within the claims of a block, its own first. */
export function claimChecks(header: Claiming, scheme: ChainScheme): SignatureCheck[] {
  const own = lostTurnOf(header);
  if (own === undefined || header.consensus.kind !== 'poa') return [];
  return [own, ...header.consensus.claims!.lost].map((turn) => turnCheck(turn, scheme));
}
