/**
 * A justification as bytes (finality.md#bytes-of-a-justification): the votes for one target.
 *
 *   u4  height, b32 header hash   of the target
 *   u2  count                     of the voters of both deciding sets, each once: 1…2,000
 *       ⌈count / 8⌉ bytes         of voter i, ascending by address, bit i mod 8 of byte ⌊i / 8⌋ is 1
 *                                 where it voted; the lowest bit is bit 0, unused bits are 0
 *       b64 signature             of each who voted, in the same order
 *
 * All else that was signed follows from the chain of the target: the source, the sets, the keys. So
 * a justification has one encoding for each choice of voters.
 */
import { assert } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import type { SignatureCheck } from '../../base/ports/verifier.ts';
import { DIGEST_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import {
  type Checkpoint,
  readCheckpoint,
  VOTERS_MAX,
  type Vote,
  voteBytes,
  writeCheckpoint,
} from '../votes/vote.ts';
import { type Deciding, isQuorumOfEach } from '../votes/voter-set.ts';

/** Voters of two sets that have none in common. */
export const DECIDING_MAX = 2 * VOTERS_MAX;
/** Checkpoint, count, bits and signatures. */
export const JUSTIFICATION_BYTES_MAX =
  4 + DIGEST_BYTES + 2 + DECIDING_MAX / 8 + DECIDING_MAX * SIGNATURE_BYTES;

export interface Justification {
  readonly target: Checkpoint;
  /** Of each deciding voter, ascending by address, its signature if it voted. */
  readonly votes: readonly (Uint8Array | undefined)[];
}

export function encodeJustification(
  { target, votes }: Justification,
  scheme: ChainScheme,
): Uint8Array {
  const voted = new Uint8Array(Math.ceil(votes.length / 8));
  for (const [i, vote] of votes.entries()) {
    if (vote !== undefined) voted[i >> 3] = voted[i >> 3]! | (1 << (i & 7));
  }
  const out = scratch(scheme);
  writeCheckpoint(out, target);
  out.u16(votes.length);
  out.bytes(voted);
  for (const vote of votes) if (vote !== undefined) out.bytes(vote);
  return out.take();
}

/** Reads all of the bytes; those of the result are views. Throws CodecError. */
export function decodeJustification(bytes: Uint8Array, scheme: ChainScheme): Justification {
  const src = new Reader(bytes, scheme);
  const target = readCheckpoint(src);
  const count = src.u16();
  if (count === 0 || count > DECIDING_MAX) {
    throw new CodecError('justification', `${count} voters, expected 1 to ${DECIDING_MAX}`);
  }
  const voted = src.bytes(Math.ceil(count / 8));
  if (count % 8 !== 0 && voted.at(-1)! >> (count % 8) !== 0) {
    throw new CodecError('justification', 'a bit behind the last voter');
  }
  const votes = Array.from({ length: count }, (_, i) =>
    (voted[i >> 3]! & (1 << (i & 7))) === 0 ? undefined : src.bytes(SIGNATURE_BYTES),
  );
  src.finish();
  return { target, votes };
}

/** Whether a quorum of each deciding set has voted. It has a place for each of their voters. */
export function hasQuorum(
  { votes }: Justification,
  deciding: Deciding,
  quorum: (count: number) => number,
): boolean {
  const { keys } = deciding.members;
  const voted = new Set(keys.filter((_, i) => votes[i] !== undefined).map(latin1));
  return isQuorumOfEach(deciding, quorum, (name) => voted.has(name));
}

/**
 * The signatures of a justification. `vote` is what its voters signed; `keys` are those of the deciding
 * voters, ascending by address, as many as `justification.votes`.
 */
export function justificationChecks(
  { votes }: Justification,
  vote: Vote,
  keys: readonly Uint8Array[],
  scheme: ChainScheme,
): SignatureCheck[] {
  assert(votes.length === keys.length, 'a place for each voter');
  const message = voteBytes(vote, scheme);
  return votes.flatMap((signature, i) =>
    signature === undefined ? [] : [{ publicKey: keys[i]!, message, signature }],
  );
}
