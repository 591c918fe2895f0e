/**
 * A block without its transactions (blocks.md#block-bytes).
 *
 *   u1  version                1 genesis, 3 every other block, 4 genesis with a 4-byte count, 100 a
 *                              block that is bound (finality.md#blocks)
 *   i8  timestamp
 *   b64 reference              id of the parent
 *   i4  consensus length       bytes of the next two
 *   u1  consensus type         1 PoS, 2 PoA
 *       consensus data         PoS: i8 base target, b32 generation signature
 *                              PoA: i8 skipped rounds, [turn claims, see turn-claims.ts]
 *      (fields 7–9: transactions; only in a full block, see block.ts)
 *  (i4  length, justification) version 100; length 0: none
 *   i4  count, count × i2      feature votes (versions 3, 4 and 100)
 *   u1  present, [u1 flag]     genesis data (version 4)
 *   b32 generator              public key
 *   b32 hash of the parent's header, b32 hash of the body (version 100)
 *   b64 signature              over everything before it; in version 100 without what is in brackets
 *
 * So the signature of version 100 is over the header alone, which binds its body by a hash, and its
 * ancestors by that of the parent's header. An id binds neither: with the national cryptography
 * anybody computes another key and another message for a signature.
 *
 * Invariants: one header has one encoding (H-3: one encoding of a block): votes ascend strictly,
 * flags are 0 or 1, lengths are what they must be; decoding throws nothing but CodecError and
 * copies nothing.
 */
import { assert } from '../base/assert.ts';
import { DIGEST_BYTES, SIGNATURE_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';
import { claimsLength, readClaims, type TurnClaims, writeClaims } from './turn-claims.ts';

export const GENESIS_VERSION = 1;
export const BLOCK_VERSION = 3;
/** Genesis with more than 127 transactions. */
export const LARGE_GENESIS_VERSION = 4;
/** Blocks with what finality needs (finality.md#blocks). */
export const BOUND_VERSION = 100;
export type BlockVersion = 1 | 3 | 4 | 100;

export const GENERATION_SIGNATURE_BYTES = 32;
export const FEATURE_VOTES_MAX = 64;
/** The size for 2,000 voters (finality/proofs/justification.ts). */
export const JUSTIFICATION_BYTES_MAX = 128_288;

const POS_TYPE = 1;
const POA_TYPE = 2;
const POS_LENGTH = 1 + 8 + GENERATION_SIGNATURE_BYTES;
const POA_LENGTH = 1 + 8;

export interface PoaData {
  readonly kind: 'poa';
  /** Rounds without a block since genesis. */
  readonly skippedRounds: number;
  readonly claims?: TurnClaims;
}

export interface PosData {
  readonly kind: 'pos';
  readonly baseTarget: bigint;
  readonly generationSignature: Uint8Array;
}

export type ConsensusData = PoaData | PosData;

/** What version 100 adds. */
export interface BoundData {
  /** Hash of the parent's header. */
  readonly parentHash: Uint8Array;
  /** Hash of the transactions and the justification. */
  readonly bodyHash: Uint8Array;
  /** The bytes of the justification that the block carries; empty: none. */
  readonly justification: Uint8Array;
}

export interface UnsignedHeader {
  readonly version: BlockVersion;
  readonly timestamp: number;
  /** Id of the parent; 64 bytes 0xFF in genesis. */
  readonly reference: Uint8Array;
  readonly consensus: ConsensusData;
  /** Feature votes in ascending order; none in version 1. */
  readonly features: readonly number[];
  /** Genesis data of version 4. */
  readonly senderRoleEnabled?: boolean | undefined;
  /** Present in version 100 only. */
  readonly bound?: BoundData | undefined;
  /** Public key. */
  readonly generator: Uint8Array;
}

export interface Header extends UnsignedHeader {
  /** The signature is the id of the block. */
  readonly signature: Uint8Array;
}

/** The header alone, without fields 7–9; the header table holds these bytes. */
export function encodeHeader(header: Header, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  writeHeader(out, header);
  return out.take();
}

/** Throws CodecError. Byte fields of the result are views. */
export function decodeHeader(bytes: Uint8Array, scheme: ChainScheme): Header {
  const src = new Reader(bytes, scheme);
  const header = readHeader(src);
  src.finish();
  return header;
}

/** What the generator of a block of version 100 signs. */
export function boundBytes(header: UnsignedHeader, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  writeHeaderStart(out, header);
  writeSignedTail(out, header);
  return out.take();
}

/**
 * A header without its justification, as a chain of headers binds it. Of other versions than 100 it is the
 * header as it is.
 */
export function encodeLink(header: Header, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  writeHeaderStart(out, header);
  writeSignedTail(out, header);
  out.bytes(header.signature);
  return out.take();
}

/** Reads all of the bytes. Throws CodecError; the justification of the result is empty. */
export function decodeLink(bytes: Uint8Array, scheme: ChainScheme): Header {
  const src = new Reader(bytes, scheme);
  const head = readHeaderStart(src);
  const header = { ...head, ...readSignedTail(src, head.version, NOTHING) };
  src.finish();
  return header;
}

/** What votes name a block by, and the next block its parent (finality.md#blocks). */
export const headerHash = (header: Header, scheme: ChainScheme): Uint8Array =>
  scheme.fastHash(encodeLink(header, scheme));

export function writeHeader(out: Writer, header: Header): void {
  writeHeaderStart(out, header);
  writeTail(out, header);
  out.bytes(header.signature);
}

export function readHeader(src: Reader): Header {
  const head = readHeaderStart(src);
  return { ...head, ...readTail(src, head.version) };
}

export type HeaderStart = Pick<UnsignedHeader, 'version' | 'timestamp' | 'reference' | 'consensus'>;
type Tail = Pick<Header, 'features' | 'senderRoleEnabled' | 'bound' | 'generator' | 'signature'>;

/** Fields 1–6. */
export function writeHeaderStart(out: Writer, head: HeaderStart): void {
  out.u8(head.version);
  out.u53(head.timestamp);
  out.bytes(head.reference);
  const { consensus } = head;
  if (consensus.kind === 'pos') {
    out.i32(POS_LENGTH);
    out.u8(POS_TYPE);
    out.i64(consensus.baseTarget);
    out.bytes(consensus.generationSignature);
  } else {
    const { claims } = consensus;
    out.i32(POA_LENGTH + (claims === undefined ? 0 : claimsLength(claims, out.scheme)));
    out.u8(POA_TYPE);
    out.u53(consensus.skippedRounds);
    if (claims !== undefined) writeClaims(out, claims);
  }
}

export function readHeaderStart(src: Reader): HeaderStart {
  const version = src.u8();
  if (version !== 1 && version !== 3 && version !== 4 && version !== BOUND_VERSION) {
    throw new CodecError('version', `${version} is not a block version`);
  }
  const timestamp = src.u53();
  const reference = src.bytes(SIGNATURE_BYTES);
  return { version, timestamp, reference, consensus: readConsensus(src) };
}

function readConsensus(src: Reader): ConsensusData {
  const length = src.i32();
  const type = src.u8();
  if (type === POA_TYPE && length === POA_LENGTH) {
    return { kind: 'poa', skippedRounds: src.u53() };
  }
  if (type === POA_TYPE && length > POA_LENGTH) {
    return { kind: 'poa', skippedRounds: src.u53(), claims: readClaims(src, length - POA_LENGTH) };
  }
  if (type === POS_TYPE && length === POS_LENGTH) {
    const baseTarget = src.i64();
    if (baseTarget <= 0n) throw new CodecError('consensus', `base target ${baseTarget}`);
    const generationSignature = src.bytes(GENERATION_SIGNATURE_BYTES);
    return { kind: 'pos', baseTarget, generationSignature };
  }
  throw new CodecError('consensus', `no consensus data of type ${type} and length ${length}`);
}

const NOTHING = new Uint8Array(0);

/** Fields 10–12, and in version 100 the justification before them. */
export function writeTail(out: Writer, header: UnsignedHeader): void {
  if (header.version === BOUND_VERSION) {
    const { justification } = boundOf(header);
    out.i32(justification.length);
    out.bytes(justification);
  }
  writeSignedTail(out, header);
}

function writeSignedTail(out: Writer, header: UnsignedHeader): void {
  if (header.version !== GENESIS_VERSION) {
    out.i32(header.features.length);
    for (const id of header.features) out.u16(id);
  }
  if (header.version === LARGE_GENESIS_VERSION) {
    out.u8(header.senderRoleEnabled === undefined ? 0 : 1);
    if (header.senderRoleEnabled !== undefined) out.u8(header.senderRoleEnabled ? 1 : 0);
  }
  out.bytes(header.generator);
  if (header.version !== BOUND_VERSION) return;
  const { parentHash, bodyHash } = boundOf(header);
  out.bytes(parentHash);
  out.bytes(bodyHash);
}

export function boundOf({ bound }: Pick<UnsignedHeader, 'bound'>): BoundData {
  assert(bound !== undefined, 'a header of version 100 is bound');
  return bound;
}

/** Fields 10–13. */
export function readTail(src: Reader, version: BlockVersion): Tail {
  if (version !== BOUND_VERSION) return readSignedTail(src, version, NOTHING);
  const length = src.i32();
  if (length < 0 || length > JUSTIFICATION_BYTES_MAX) {
    throw new CodecError('justification', `${length} bytes`);
  }
  return readSignedTail(src, version, src.bytes(length));
}

function readSignedTail(src: Reader, version: BlockVersion, justification: Uint8Array): Tail {
  const features = version === GENESIS_VERSION ? [] : readVotes(src);
  const flag = version === LARGE_GENESIS_VERSION ? readGenesisData(src) : undefined;
  const generator = src.bytes(src.scheme.publicKeySize);
  const bound = version === BOUND_VERSION ? readBound(src, justification) : undefined;
  const signature = src.bytes(SIGNATURE_BYTES);
  return {
    features,
    ...(flag === undefined ? {} : { senderRoleEnabled: flag }),
    generator,
    ...(bound === undefined ? {} : { bound }),
    signature,
  };
}

function readBound(src: Reader, justification: Uint8Array): BoundData {
  const parentHash = src.bytes(DIGEST_BYTES);
  return { parentHash, bodyHash: src.bytes(DIGEST_BYTES), justification };
}

function readVotes(src: Reader): number[] {
  const count = src.i32();
  if (count < 0 || count > FEATURE_VOTES_MAX) {
    throw new CodecError('features', `${count} feature votes are more than ${FEATURE_VOTES_MAX}`);
  }
  const votes: number[] = [];
  let previous = -1;
  for (let i = 0; i < count; i++) {
    const id = src.u16();
    // Other implementations read a signed number, so ids end at 32767.
    if (id <= previous || id > 0x7fff) {
      throw new CodecError('features', 'feature votes must be positive and ascend');
    }
    votes.push(id);
    previous = id;
  }
  return votes;
}

function readGenesisData(src: Reader): boolean | undefined {
  const present = src.u8();
  if (present > 1) throw new CodecError('genesisData', `${present} is not a flag`);
  if (present === 0) return undefined;
  const flag = src.u8();
  if (flag > 1) throw new CodecError('genesisData', `${flag} is not a boolean`);
  return flag === 1;
}
