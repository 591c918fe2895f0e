/**
 * A vote as bytes (finality.md#bytes-of-a-vote). Signed are, and no text, transaction or block begins so:
 *
 *   u1  255
 *       "vote"
 *   b32 header hash of the genesis block
 *   b32 rule hash                 of the sets that decide on the target
 *   u4  height, b32 header hash   of the source
 *   u4  height, b32 header hash   of the target
 *
 * A vote travels as these bytes, the public key of the voter and its signature.
 */
import { latin1, utf8 } from '../../base/bytes.ts';
import type { SignatureCheck } from '../../base/ports/verifier.ts';
import { DIGEST_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import type { VoterSets } from './voter-sets.ts';

/** Accounts with the role `miner`, at most, and so voters of a set. */
export const VOTERS_MAX = 1000;

export interface Checkpoint {
  /** 1 for the genesis block. */
  readonly height: number;
  /** Hash of its header (block/header.ts): with the national cryptography an id binds nothing. */
  readonly id: Uint8Array;
}

/** As a key: voters may name any height for an id, and a false one must not touch the true ones. */
export const checkpointKey = ({ height, id }: Checkpoint): string => `${height} ${latin1(id)}`;

export interface Vote {
  /** Hash of the header of the genesis block. */
  readonly genesis: Uint8Array;
  readonly ruleHash: Uint8Array;
  readonly source: Checkpoint;
  readonly target: Checkpoint;
}

export interface SignedVote extends Vote {
  /** Public key of the voter. */
  readonly voter: Uint8Array;
  readonly signature: Uint8Array;
}

const PREFIX = Uint8Array.of(255, ...utf8('vote'));
export const CHECKPOINT_BYTES = 4 + DIGEST_BYTES;
export const VOTE_BYTES = PREFIX.length + DIGEST_BYTES + DIGEST_BYTES + 2 * CHECKPOINT_BYTES;

export const signedVoteBytes = ({ publicKeySize }: ChainScheme): number =>
  VOTE_BYTES + publicKeySize + SIGNATURE_BYTES;

export function writeCheckpoint(out: Writer, { height, id }: Checkpoint): void {
  out.u32(height);
  out.bytes(id);
}

/** Throws CodecError. */
export function readCheckpoint(src: Reader): Checkpoint {
  const height = src.u32();
  if (height === 0) throw new CodecError('checkpoint', 'heights begin at 1');
  return { height, id: src.bytes(DIGEST_BYTES) };
}

function writeVote(out: Writer, { genesis, ruleHash, source, target }: Vote): void {
  out.bytes(PREFIX);
  out.bytes(genesis);
  out.bytes(ruleHash);
  writeCheckpoint(out, source);
  writeCheckpoint(out, target);
}

/** What a voter signs. */
export function voteBytes(vote: Vote, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  writeVote(out, vote);
  return out.take();
}

export function encodeVote(vote: SignedVote, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  writeVote(out, vote);
  out.bytes(vote.voter);
  out.bytes(vote.signature);
  return out.take();
}

/** Reads all of the bytes; those of the result are views. Throws CodecError. */
export function decodeVote(bytes: Uint8Array, scheme: ChainScheme): SignedVote {
  const src = new Reader(bytes, scheme);
  const vote = readSigned(src);
  const voter = src.bytes(scheme.publicKeySize);
  const signature = src.bytes(SIGNATURE_BYTES);
  src.finish();
  return { ...vote, voter, signature };
}

/** Reads what a voter signs, and nothing else. Throws CodecError. */
export function readVote(bytes: Uint8Array, scheme: ChainScheme): Vote {
  const src = new Reader(bytes, scheme);
  const vote = readSigned(src);
  src.finish();
  return vote;
}

function readSigned(src: Reader): Vote {
  const prefix = src.bytes(PREFIX.length);
  if (!PREFIX.every((byte, i) => byte === prefix[i])) throw new CodecError('vote', 'no vote');
  const genesis = src.bytes(DIGEST_BYTES);
  const ruleHash = src.bytes(DIGEST_BYTES);
  const source = readCheckpoint(src);
  const target = readCheckpoint(src);
  if (target.height <= source.height)
    throw new CodecError('vote', 'the target is not above the source');
  return { genesis, ruleHash, source, target };
}

export const voteCheck = (vote: SignedVote, scheme: ChainScheme): SignatureCheck => ({
  publicKey: vote.voter,
  message: voteBytes(vote, scheme),
  signature: vote.signature,
});

/**
 * `fast(u4 change, list2(address), opt(list2(address)))` of the sets that decide. Addresses ascend by
 * bytes. Where a set changes begins is no part of it: it decides nothing.
 */
export function ruleHash(sets: VoterSets<readonly Uint8Array[]>, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u32(sets.change);
  writeAddresses(out, sets.current);
  out.u8(sets.next === undefined ? 0 : 1);
  if (sets.next !== undefined) writeAddresses(out, sets.next.voters);
  return scheme.fastHash(out.take());
}

function writeAddresses(out: Writer, addresses: readonly Uint8Array[]): void {
  out.u16(addresses.length);
  for (const address of addresses) out.bytes(address);
}
