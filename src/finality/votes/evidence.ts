/**
 * Evidence of lies: two votes of one key that contradict each other (finality.md#contradictions). It has no
 * effect by itself.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { contradict, type IdentifiedLink } from './links.ts';
import { type SignedVote, type Vote, voteCheck } from './vote.ts';

const EVIDENCE_MAX = 1_000;

export type Contradiction = readonly [SignedVote, SignedVote];

const identified = ({ source, target }: Vote): IdentifiedLink => ({
  source: source.height,
  target: target.height,
  targetId: latin1(target.id),
});

export const areContradictory = (a: Vote, b: Vote): boolean =>
  contradict(identified(a), identified(b));

/** Whether anybody can see from the two votes that their voter lied. */
export const isEvidence = ([a, b]: Contradiction, scheme: ChainScheme): boolean =>
  equal(a.voter, b.voter) &&
  equal(a.genesis, b.genesis) &&
  areContradictory(a, b) &&
  [a, b].every((vote) => {
    const { publicKey, message, signature } = voteCheck(vote, scheme);
    return scheme.verify(publicKey, message, signature);
  });

/** One pair a key, and of too many the newest. */
export class Evidence {
  private readonly pairs = new Map<string, Contradiction>();

  /** True where it is the first of this key. */
  add(pair: Contradiction): boolean {
    const name = latin1(pair[0].voter);
    if (this.pairs.has(name)) return false;
    const oldest = this.pairs.keys().next().value;
    if (this.pairs.size >= EVIDENCE_MAX && oldest !== undefined) this.pairs.delete(oldest);
    this.pairs.set(name, pair);
    return true;
  }

  list(): readonly Contradiction[] {
    return [...this.pairs.values()];
  }
}
