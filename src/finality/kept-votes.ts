/**
 * Votes whose signatures are good (finality.md#spread).
 *
 * Invariants: of each voter and height, the first vote and the first one that contradicts it by its
 * target; above the window of heights one vote of each voter; no more than `votesMax` in all, of which the
 * lowest go first.
 */
import { equal, latin1 } from '../base/bytes.ts';
import { areContradictory, type Contradiction } from './evidence.ts';
import type { SignedVote } from './vote.ts';

export const VOTES_MAX = 65_536;

interface Slot {
  readonly first: SignedVote;
  readonly second: SignedVote | undefined;
}

const votesOf = ({ first, second }: Slot): SignedVote[] =>
  second === undefined ? [first] : [first, second];

export class KeptVotes {
  private readonly votesMax: number;
  private readonly slots = new Map<string, Map<number, Slot>>();
  /** Of each voter, the vote above the window. */
  private readonly above = new Map<string, SignedVote>();
  private readonly targets = new Map<string, Map<string, SignedVote>>();
  /** The height of the highest vote of each voter, whether it is still kept or not. */
  private readonly highest = new Map<string, number>();
  private readonly counts = new Map<number, number>();
  private count = 0;

  constructor(votesMax = VOTES_MAX) {
    this.votesMax = votesMax;
  }

  /** For a target; a vote above the window is not among them. */
  *for(target: string): Iterable<SignedVote> {
    yield* this.targets.get(target)?.values() ?? [];
  }

  /** The targets above a height, each with its voters. */
  targetsAbove(height: number): { readonly id: string; readonly voters: ReadonlySet<string> }[] {
    return [...this.targets].flatMap(([id, votes]) => {
      const [first] = votes.values();
      return first !== undefined && first.target.height > height
        ? [{ id, voters: new Set(votes.keys()) }]
        : [];
    });
  }

  /** Height of the highest vote of a voter, for whatever target, or 0. */
  highestOf(voter: string): number {
    return this.highest.get(voter) ?? 0;
  }

  /** Where it would say nothing new. */
  isKnown(vote: SignedVote, isAboveWindow: boolean): boolean {
    const voter = latin1(vote.voter);
    if (isAboveWindow) return this.above.has(voter);
    const slot = this.slots.get(voter)?.get(vote.target.height);
    if (slot === undefined) return false;
    return slot.second !== undefined || equal(slot.first.target.id, vote.target.id);
  }

  has(vote: SignedVote): boolean {
    const slot = this.slots.get(latin1(vote.voter))?.get(vote.target.height);
    return slot !== undefined && votesOf(slot).includes(vote);
  }

  /** Where it would be dropped at once. */
  isTooLow(height: number): boolean {
    return this.count >= this.votesMax && height <= Math.min(...this.counts.keys());
  }

  /** Of a voter, lowest first. */
  of(voter: string): SignedVote[] {
    const slots = [...(this.slots.get(voter)?.values() ?? [])].flatMap(votesOf);
    return slots.sort((a, b) => a.target.height - b.target.height);
  }

  /** The newest of all voters, at most so many. */
  newest(max: number): SignedVote[] {
    const all = [...this.slots.keys()].flatMap((voter) => this.of(voter));
    const sorted = [...all, ...this.above.values()].sort(
      (a, b) => b.target.height - a.target.height,
    );
    return sorted.slice(0, max);
  }

  /** A vote that is not known. Returns what it contradicts. */
  add(vote: SignedVote, isAboveWindow: boolean): Contradiction | undefined {
    const voter = latin1(vote.voter);
    const { height } = vote.target;
    const others = [...this.of(voter), ...(this.above.has(voter) ? [this.above.get(voter)!] : [])];
    const other = others.find((one) => areContradictory(one, vote));
    this.highest.set(voter, Math.max(this.highestOf(voter), height));
    if (isAboveWindow) this.above.set(voter, vote);
    else this.place(voter, vote);
    return other && [other, vote];
  }

  private place(voter: string, vote: SignedVote): void {
    const { height, id } = vote.target;
    const slots = this.slots.get(voter) ?? new Map<number, Slot>();
    this.slots.set(voter, slots);
    const slot = slots.get(height);
    slots.set(height, slot ? { ...slot, second: vote } : { first: vote, second: undefined });
    const target = latin1(id);
    const votes = this.targets.get(target) ?? new Map<string, SignedVote>();
    this.targets.set(target, votes.set(voter, vote));
    this.counts.set(height, (this.counts.get(height) ?? 0) + 1);
    this.count += 1;
    while (this.count > this.votesMax) this.dropHeight(Math.min(...this.counts.keys()));
  }

  /** The vote gives way to one for a higher block. */
  drop(vote: SignedVote): void {
    const voter = latin1(vote.voter);
    const { height } = vote.target;
    const slots = this.slots.get(voter);
    const slot = slots?.get(height);
    if (slots === undefined || slot === undefined) return;
    const left = votesOf(slot).filter((one) => one !== vote);
    if (left[0] === undefined) slots.delete(height);
    else slots.set(height, { first: left[0], second: left[1] });
    this.untarget(voter, vote);
  }

  /** What is at or below the final block is of no use any more. */
  dropTo(final: number): void {
    for (const height of [...this.counts.keys()]) if (height <= final) this.dropHeight(height);
    for (const [voter, height] of this.highest) if (height <= final) this.highest.delete(voter);
    for (const [voter, slots] of this.slots) if (slots.size === 0) this.slots.delete(voter);
  }

  private dropHeight(height: number): void {
    for (const [voter, slots] of this.slots) {
      const slot = slots.get(height);
      if (slot === undefined) continue;
      slots.delete(height);
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
    else this.counts.delete(height);
    this.count -= 1;
  }

  /** The votes above the window that are inside now; they leave their place. */
  takeBelow(windowEnd: number): SignedVote[] {
    const inside = [...this.above.values()].filter(({ target }) => target.height <= windowEnd);
    for (const { voter } of inside) this.above.delete(latin1(voter));
    return inside;
  }
}
