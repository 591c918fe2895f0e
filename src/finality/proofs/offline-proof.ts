/**
 * The proof that a block is final, for somebody who has no chain (finality.md#proofs): justifications and
 * headers, from the genesis block or from a trusted checkpoint on.
 *
 * Why it needs no state: voters sign the hash of the sets that decide. So where a quorum of the known set
 * has signed, the set of the change is known too; and a direct link that both sets decided on proves a
 * final block at or above the beginning of the change, which completes it.
 */
import { equal } from '../../base/bytes.ts';
import { decodeLink, type Header } from '../../block/header.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { makesSourceFinal } from '../votes/links.ts';
import type { Checkpoint } from '../votes/vote.ts';
import { decidingOn, type VoterSet, voterSet } from '../votes/voter-set.ts';
import { quorum, type VoterSets } from '../votes/voter-sets.ts';
import type { FinalProof } from './final-proof.ts';
import { hasQuorum, justificationChecks } from './justification.ts';

/** What the verifier believes: a block, and the sets that it leaves, by their hash. */
export interface TrustedCheckpoint {
  /** Hash of the header of the genesis block. */
  readonly genesis: Uint8Array;
  readonly height: number;
  readonly ruleHash: Uint8Array;
}

export interface ProofStep extends FinalProof {
  /** The sets that decided on the target. */
  readonly sets: VoterSets<VoterSet>;
}

export interface OfflineProof {
  /** One for each change that was completed in between, then that of the final block. */
  readonly steps: readonly ProofStep[];
  /** From the block in question to the final block, both included (`encodeLink` of block/header.ts). */
  readonly headers: readonly Uint8Array[];
}

export type ProofOutcome =
  | {
      readonly isProved: true;
      readonly block: Checkpoint & { readonly header: Header };
      readonly final: Checkpoint;
    }
  | { readonly isProved: false; readonly why: string };

const refuted = (why: string): ProofOutcome => ({ isProved: false, why });

/** Pure: the same answer everywhere, however old the proof is. */
export function verifyOffline(
  { steps, headers }: OfflineProof,
  trusted: TrustedCheckpoint,
  scheme: ChainScheme,
): ProofOutcome {
  let { ruleHash } = trusted;
  let reached = 0;
  let final: Checkpoint | undefined;
  for (const step of steps) {
    if (step.link.source.height < reached) return refuted('a step is below the one before');
    const why = problemOf(step, { ...trusted, ruleHash }, scheme);
    if (why !== undefined) return refuted(why);
    final = step.link.source;
    reached = final.height;
    ruleHash = hashAfter(ofKeys(step.sets, scheme), scheme);
  }
  if (final === undefined) return refuted('the proof has no step');
  const [first] = headers;
  const hashes = headers.map((bytes) => scheme.fastHash(bytes));
  if (first === undefined) return refuted('the proof has no header');
  if (!equal(hashes.at(-1)!, final.id)) {
    return refuted('the last header is not that of the final block');
  }
  // The quorum has signed the hash of the last one, and each binds the one before it.
  const read = readLinks(headers, scheme);
  if (read === undefined) return refuted('a header is damaged');
  const isChain = read.every(
    ({ bound }, i) => i === 0 || (bound !== undefined && equal(bound.parentHash, hashes[i - 1]!)),
  );
  if (!isChain) return refuted('the headers do not follow each other');
  const height = final.height - headers.length + 1;
  return height < 1
    ? refuted('there are too many headers')
    : { isProved: true, block: { height, id: hashes[0]!, header: read[0]! }, final };
}

function readLinks(headers: readonly Uint8Array[], scheme: ChainScheme): Header[] | undefined {
  try {
    return headers.map((bytes) => decodeLink(bytes, scheme));
  } catch (cause) {
    if (cause instanceof CodecError) return undefined;
    throw cause;
  }
}

function problemOf(
  { link, justification, sets: claimed }: ProofStep,
  { genesis, ruleHash }: TrustedCheckpoint,
  scheme: ChainScheme,
): string | undefined {
  const { source, target } = link;
  const sets = ofKeys(claimed, scheme);
  if (!equal(link.genesis, genesis)) return 'it is of another network';
  if (!makesSourceFinal({ source: source.height, target: target.height })) {
    return 'a link is not to the next block';
  }
  const deciding = decidingOn(sets, scheme);
  const isBegunLater =
    sets.next !== undefined &&
    equal(decidingOn({ ...sets, next: undefined }, scheme).ruleHash, ruleHash);
  if (!equal(deciding.ruleHash, ruleHash) && !isBegunLater) return 'the voters are not known';
  if (!equal(link.ruleHash, deciding.ruleHash)) return 'the votes are of other voters';
  const { keys } = deciding.members;
  if (justification.votes.length !== keys.length) return 'the votes are of other voters';
  if (!hasQuorum(justification, deciding, quorum)) return 'votes are missing';
  const isSigned = justificationChecks(justification, link, keys, scheme).every(
    ({ publicKey, message, signature }) => scheme.verify(publicKey, message, signature),
  );
  return isSigned ? undefined : 'a vote has a wrong signature';
}

/** Only the keys are believed: the hash is that of their addresses. */
const ofKeys = ({ change, current, next }: VoterSets<VoterSet>, scheme: ChainScheme) => ({
  change,
  current: voterSet(current.keys, scheme),
  next: next && { voters: voterSet(next.voters.keys, scheme), since: next.since },
});

/** The rule hash of the sets that are known once a direct link, on which these sets decided, is justified. */
const hashAfter = ({ change, current, next }: VoterSets<VoterSet>, scheme: ChainScheme) =>
  next === undefined
    ? decidingOn({ change, current, next }, scheme).ruleHash
    : decidingOn({ change: change + 1, current: next.voters, next: undefined }, scheme).ruleHash;
