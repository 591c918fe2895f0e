/**
 * The proof of a final block: the link from it to its child, and the votes for this link
 * (finality.md#proofs). It is stored, so that a node that showed a block as final knows it after a
 * restart, and it is what an offline check reads.
 *
 *   141 bytes    of the vote that was signed
 *       bytes    of the justification
 */
import { equal } from '../../base/bytes.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { makesSourceFinal } from '../votes/links.ts';
import { readVote, type SignedVote, VOTE_BYTES, type Vote, voteBytes } from '../votes/vote.ts';
import { decidingOn, type VoterSet } from '../votes/voter-set.ts';
import type { VoterSets } from '../votes/voter-sets.ts';
import {
  decodeJustification,
  encodeJustification,
  JUSTIFICATION_BYTES_MAX,
  type Justification,
} from './justification.ts';

export const FINAL_PROOF_BYTES_MAX = VOTE_BYTES + JUSTIFICATION_BYTES_MAX;

export interface FinalProof {
  /** Its source is the final block. */
  readonly link: Vote;
  readonly justification: Justification;
}

export function encodeFinalProof({ link, justification }: FinalProof, scheme: ChainScheme) {
  const head = voteBytes(link, scheme);
  const tail = encodeJustification(justification, scheme);
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

/** Reads all of the bytes; those of the result are views. Throws CodecError. */
export function decodeFinalProof(bytes: Uint8Array, scheme: ChainScheme): FinalProof {
  const link = readVote(bytes.subarray(0, VOTE_BYTES), scheme);
  const justification = decodeJustification(bytes.subarray(VOTE_BYTES), scheme);
  const { source, target } = link;
  const isOfTarget =
    target.height === justification.target.height && equal(target.id, justification.target.id);
  if (!isOfTarget) throw new CodecError('proof', 'the votes are for another block');
  if (!makesSourceFinal({ source: source.height, target: target.height })) {
    throw new CodecError('proof', 'the link is not to the next block');
  }
  return { link, justification };
}

/** Whether the votes are by those who decide above a block that leaves these sets: operators may have named others since. */
export const isProofBy = (
  { link }: FinalProof,
  leaves: VoterSets<VoterSet>,
  scheme: ChainScheme,
): boolean => equal(link.ruleHash, decidingOn(leaves, scheme).ruleHash);

/** The votes of a justification, where these are all who decided on its target. */
export const votesOf = (
  link: Vote,
  { votes }: Justification,
  keys: readonly Uint8Array[],
): SignedVote[] =>
  keys.flatMap((voter, i) => {
    const signature = keys.length === votes.length ? votes[i] : undefined;
    return signature === undefined ? [] : [{ ...link, voter, signature }];
  });
