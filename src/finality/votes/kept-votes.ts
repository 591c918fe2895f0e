/**
 * Votes whose signatures are good (finality.md#spread).
 *
 * Invariants: of each voter and height, the first vote and the first one that contradicts it by its
 * target; above the window of heights one vote of each voter; no more than `votesMax` in all, of which the
 * lowest go first. No step depends on how many heights have votes, but for a few that look at one voter.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import { areContradictory, type Contradiction } from './evidence.ts';
import { SortedHeights } from './sorted-heights.ts';
import type { SignedVote } from './vote.ts';

const VOTES_MAX = 65_536;

interface Slot {
  readonly first: SignedVote;
  readonly second: SignedVote | undefined;
}

interface VotesOfVoter {
  readonly slots: Map<number, Slot>;
  readonly heights: SortedHeights;
}

const votesOf = ({ first, second }: Slot): SignedVote[] =>
  second === undefined ? [first] : [first, second];

export class KeptVotes {
  private readonly votesMax: number;
  private readonly voters = new Map<string, VotesOfVoter>();
  /** The vote of each voter above the window. */
  private readonly above = new Map<string, SignedVote>();
  private readonly targets = new Map<string, Map<string, SignedVote>>();
  /** The height of the highest vote of each voter, whether it is still kept or not. */
  private readonly highest = new Map<string, number>();
  private readonly counts = new Map<number, number>();
  /** The heights that have votes. */
  private readonly heights = new SortedHeights();
  private count = 0;

  constructor(votesMax = VOTES_MAX) {
    this.votesMax = votesMax;
  }

  /** The votes for a target, without those above the window. */
  *for(target: string): Iterable<SignedVote> {
    yield* this.targets.get(target)?.values() ?? [];
  }

  /** Whether somebody has voted for the target at this height. */
  hasFor(target: string, height: number): boolean {
    for (const vote of this.for(target)) if (vote.target.height === height) return true;
    return false;
  }

  /** Height of the highest vote of a voter, for whatever target, or 0. */
  highestOf(voter: string): number {
    return this.highest.get(voter) ?? 0;
  }

  /** True where the vote would say nothing new. */
  isKnown(vote: SignedVote, isAboveWindow: boolean): boolean {
    const voter = latin1(vote.voter);
    if (isAboveWindow) return this.above.has(voter);
    const slot = this.slotOf(voter, vote.target.height);
    if (slot === undefined) return false;
    return slot.second !== undefined || equal(slot.first.target.id, vote.target.id);
  }

  has(vote: SignedVote): boolean {
    const slot = this.slotOf(latin1(vote.voter), vote.target.height);
    return slot !== undefined && votesOf(slot).includes(vote);
  }

  /** True where a vote for this height would be dropped at once. */
  isTooLow(height: number): boolean {
    return this.count >= this.votesMax && height <= (this.heights.lowest() ?? 0);
  }

  private slotOf(voter: string, height: number): Slot | undefined {
    return this.voters.get(voter)?.slots.get(height);
  }

  /** The votes of a voter, lowest first. */
  of(voter: string): SignedVote[] {
    const slots = [...(this.voters.get(voter)?.slots.values() ?? [])].flatMap(votesOf);
    return slots.sort((a, b) => a.target.height - b.target.height);
  }

  /** The newest of all voters, at most so many. */
  newest(max: number): SignedVote[] {
    const found = [...this.above.values()];
    for (const height of this.heights.descending()) {
      if (found.length >= this.above.size + max) break;
      for (const { slots } of this.voters.values()) {
        const slot = slots.get(height);
        if (slot !== undefined) found.push(...votesOf(slot));
      }
    }
    return found.sort((a, b) => b.target.height - a.target.height).slice(0, max);
  }

  /** A vote that is not known. Returns what it contradicts. */
  add(vote: SignedVote, isAboveWindow: boolean): Contradiction | undefined {
    const voter = latin1(vote.voter);
    const { height } = vote.target;
    const other = this.contradicted(voter, vote);
    this.highest.set(voter, Math.max(this.highestOf(voter), height));
    if (isAboveWindow) this.above.set(voter, vote);
    else this.place(voter, vote);
    return other && [other, vote];
  }

  /**
   * While a voter has not contradicted itself, its sources ascend with its targets. So of its votes below
   * this one the next has the highest source, and of those above the next has the lowest.
   */
  private contradicted(voter: string, vote: SignedVote): SignedVote | undefined {
    const { height } = vote.target;
    const of = this.voters.get(voter);
    const near = of === undefined ? [] : [height, ...of.heights.around(height)];
    const votes = near.flatMap((one) => {
      const slot = of?.slots.get(one);
      return slot === undefined ? [] : votesOf(slot);
    });
    const above = this.above.get(voter);
    if (above !== undefined) votes.push(above);
    return votes.find((one) => areContradictory(one, vote));
  }

  private place(voter: string, vote: SignedVote): void {
    const { height, id } = vote.target;
    const of = this.voters.get(voter) ?? { slots: new Map(), heights: new SortedHeights() };
    this.voters.set(voter, of);
    const { slots, heights } = of;
    const slot = slots.get(height);
    slots.set(height, slot ? { ...slot, second: vote } : { first: vote, second: undefined });
    const target = latin1(id);
    const votes = this.targets.get(target) ?? new Map<string, SignedVote>();
    this.targets.set(target, votes.set(voter, vote));
    this.counts.set(height, (this.counts.get(height) ?? 0) + 1);
    heights.add(height);
    this.heights.add(height);
    this.count += 1;
    while (this.count > this.votesMax) this.dropHeight(this.heights.lowest()!);
  }

  /** The vote gives way to one for a higher block. */
  drop(vote: SignedVote): void {
    const voter = latin1(vote.voter);
    const { height } = vote.target;
    const of = this.voters.get(voter);
    const slot = of?.slots.get(height);
    if (of === undefined || slot === undefined) return;
    const left = votesOf(slot).filter((one) => one !== vote);
    if (left[0] === undefined) remove(of, height);
    else of.slots.set(height, { first: left[0], second: left[1] });
    this.untarget(voter, vote);
  }

  /** What is at or below the final block is of no use any more. */
  dropTo(final: number): void {
    for (let at = this.heights.lowest(); at !== undefined && at <= final; ) {
      this.dropHeight(at);
      at = this.heights.lowest();
    }
    for (const [voter, height] of this.highest) if (height <= final) this.highest.delete(voter);
    for (const [voter, { slots }] of this.voters) if (slots.size === 0) this.voters.delete(voter);
  }

  private dropHeight(height: number): void {
    for (const [voter, of] of this.voters) {
      const slot = of.slots.get(height);
      if (slot === undefined) continue;
      remove(of, height);
      for (const vote of votesOf(slot)) this.untarget(voter, vote);
    }
  }

  private untarget(voter: string, { target: { height, id } }: SignedVote): void {
    const target = latin1(id);
    const votes = this.targets.get(target);
    votes?.delete(voter);
    if (votes?.size === 0) this.targets.delete(target);
    const left = (this.counts.get(height) ?? 0) - 1;
    if (left > 0) this.counts.set(height, left);
    else {
      this.counts.delete(height);
      this.heights.delete(height);
    }
    this.count -= 1;
  }

  /** The votes above the window that are inside now; they leave their place. */
  takeBelow(windowEnd: number): SignedVote[] {
    const inside = [...this.above.values()].filter(({ target }) => target.height <= windowEnd);
    for (const { voter } of inside) this.above.delete(latin1(voter));
    return inside;
  }
}

function remove({ slots, heights }: VotesOfVoter, height: number): void {
  slots.delete(height);
  heights.delete(height);
}
