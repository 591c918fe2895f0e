/**
 * Whether a block may carry a justification (finality.md#votes). The rule looks at the chain of the
 * parent alone, so all nodes judge alike.
 */
import { equal, latin1 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { SignatureCheck, Verifier } from '../base/ports/verifier.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { hasQuorum, type Justification, justificationChecks } from './proofs/justification.ts';
import type { Rules } from './rules.ts';
import type { TrackedBlock } from './tracked-block.ts';
import { mayCarry } from './votes/links.ts';
import type { Checkpoint, SignedVote, Vote } from './votes/vote.ts';
import { type Deciding, decidingOn, isQuorumOfEach } from './votes/voter-set.ts';

export interface CarriedPorts {
  readonly genesis: Uint8Array;
  readonly scheme: ChainScheme;
  readonly rules: Pick<Rules, 'quorum' | 'decidingSets'>;
}

/** What votes for a block depend on. */
export type VotedBlock = Pick<TrackedBlock, 'checkpoint' | 'source' | 'deciding'>;

/** The vote that justifies a block, whoever gives it. */
export const voteFor = (
  { source, checkpoint }: Pick<VotedBlock, 'checkpoint' | 'source'>,
  { ruleHash }: Deciding,
  genesis: Uint8Array,
): Vote => ({ genesis, ruleHash, source, target: checkpoint });

/** The chain that ends with the parent of a block. */
export interface ChainBelow {
  /** The source of votes for the parent. */
  readonly source: Checkpoint;
  /** The block at a height above the source. */
  readonly at: (height: number) => VotedBlock | undefined;
}

/** Throws Refusal where no block above may carry it. The signatures remain to be checked. */
export function checksInChain(
  justification: Justification,
  { source, at }: ChainBelow,
  { genesis, scheme, rules }: CarriedPorts,
): SignatureCheck[] {
  const { target, votes } = justification;
  if (!mayCarry(source.height, target.height)) {
    throw apiError('Invalid', 'The justification is not above that of the chain');
  }
  const block = at(target.height);
  const isTarget =
    block?.checkpoint.height === target.height && equal(block.checkpoint.id, target.id);
  if (block === undefined || !isTarget) {
    throw apiError('Invalid', 'The justification is of a block of another chain');
  }
  const deciding = decidingOn(block.deciding, scheme, rules.decidingSets);
  const { keys } = deciding.members;
  if (votes.length !== keys.length) {
    throw apiError('Invalid', 'The justification is of other voters');
  }
  if (!hasQuorum(justification, deciding, rules.quorum)) {
    throw apiError('Invalid', 'The justification lacks votes');
  }
  return justificationChecks(justification, voteFor(block, deciding, genesis), keys, scheme);
}

/** Rejects with Refusal where one of them is wrong. */
export async function requireSignatures(
  checks: readonly SignatureCheck[],
  verifier: Pick<Verifier, 'verify'>,
): Promise<void> {
  const verdicts = await verifier.verify(checks);
  if (!verdicts.every((isGood) => isGood)) {
    throw apiError('Invalid', 'The justification has a wrong signature');
  }
}

/** The votes that match a block, as a justification, or undefined where they are no quorum. */
export function justificationOf(
  block: Pick<VotedBlock, 'checkpoint' | 'source'>,
  deciding: Deciding,
  votes: Iterable<SignedVote>,
  quorum: Rules['quorum'],
): Justification | undefined {
  const signatures = new Map<string, Uint8Array>();
  for (const vote of votes) {
    if (isVoteFor(vote, block, deciding)) signatures.set(latin1(vote.voter), vote.signature);
  }
  if (!isQuorumOfEach(deciding, quorum, (name) => signatures.has(name))) return undefined;
  const inOrder = deciding.members.keys.map((key) => signatures.get(latin1(key)));
  return { target: block.checkpoint, votes: inOrder };
}

/** Whether a vote for this block says what every vote for it must say. */
export const isVoteFor = (
  vote: Vote,
  { source, checkpoint }: Pick<VotedBlock, 'checkpoint' | 'source'>,
  { ruleHash }: Deciding,
): boolean =>
  vote.target.height === checkpoint.height &&
  equal(vote.target.id, checkpoint.id) &&
  vote.source.height === source.height &&
  equal(vote.source.id, source.id) &&
  equal(vote.ruleHash, ruleHash);
