/**
 * The message of votes (finality.md#spread): u1 count, then the votes, each with its key and signature.
 * All of them have one size, so a wrong length is known before anything is read.
 */
import { concat } from '../../base/bytes.ts';
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { decodeVote, encodeVote, type SignedVote, signedVoteBytes } from './vote.ts';

export const VOTES_OF_MESSAGE_MAX = 200;

export const encodeVotes = (votes: readonly SignedVote[], scheme: ChainScheme): Uint8Array =>
  joinVotes(votes.map((vote) => encodeVote(vote, scheme)));

/** The same for votes that are encoded. */
export const joinVotes = (votes: readonly Uint8Array[]): Uint8Array =>
  concat(Uint8Array.of(votes.length), ...votes);

/** Reads all of the bytes; those of the result are views. Throws CodecError. */
export function decodeVotes(bytes: Uint8Array, scheme: ChainScheme): SignedVote[] {
  const size = signedVoteBytes(scheme);
  const src = new Reader(bytes, scheme);
  const count = src.u8();
  if (count === 0 || count > VOTES_OF_MESSAGE_MAX) {
    throw new CodecError('votes', `${count} votes, expected 1 to ${VOTES_OF_MESSAGE_MAX}`);
  }
  if (bytes.length !== 1 + count * size) {
    throw new CodecError('votes', `${bytes.length} bytes, expected ${1 + count * size}`);
  }
  const votes = Array.from({ length: count }, () => decodeVote(src.bytes(size), scheme));
  src.finish();
  return votes;
}
