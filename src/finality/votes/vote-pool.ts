/**
 * Takes votes of other nodes (finality.md#spread): size, network, heights, membership, known already,
 * signature, in this order, so that the dear check comes last.
 *
 * Invariants: a vote is kept only after its signature was found good, and only where it would still be
 * taken then, since the chain may have moved meanwhile; what waits for its check is bounded. Only a
 * wrong signature is an offence: whatever else is wrong depends on the view of a node.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import { type Misconduct, misconduct } from '../../base/faults/misconduct.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { type Contradiction, Evidence } from './evidence.ts';
import { KeptVotes } from './kept-votes.ts';
import { checkpointKey, decodeVote, encodeVote, type SignedVote, voteCheck } from './vote.ts';
import type { VoterSet } from './voter-set.ts';

/** The window of heights ends so far above the tip. */
export const AHEAD_MAX = 8;
/** Unknown targets of each voter. */
export const UNKNOWN_MAX = 8;
/** Votes whose signatures are being checked. */
const CHECKING_MAX = 2_000;

/** The chain, as of now. */
export interface PoolView {
  /** Height of the final block. */
  final(): number;
  /** Height of the head. */
  tip(): number;
  /** Who decides on a block at its height, or undefined where the block is unknown. */
  membersOn(target: string, height: number): VoterSet | undefined;
  /** Who decides on the next block. */
  membersNext(): VoterSet;
}

export interface VotePoolPorts {
  readonly genesis: Uint8Array;
  readonly scheme: ChainScheme;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly view: PoolView;
  readonly onEvidence: (pair: Contradiction) => void;
}

/** Why a vote is not taken; none of these is an offence. */
export type Reason =
  | 'other-network'
  | 'final-already'
  | 'too-high'
  | 'no-member'
  | 'known'
  | 'full'
  | 'unknown-targets';

type Place = 'window' | 'above';

export interface UnknownTarget {
  /** `checkpointKey` of what was voted for. */
  readonly key: string;
  readonly height: number;
  readonly voters: ReadonlySet<string>;
}

export interface Offered {
  /** Votes that are kept now and were not before: to be counted and passed on. */
  readonly taken: readonly SignedVote[];
  readonly offence: Misconduct | undefined;
}

export class VotePool {
  readonly kept: KeptVotes;
  readonly evidence = new Evidence();
  private readonly ports: VotePoolPorts;
  private readonly checking = new Set<string>();
  /** The votes of each voter whose targets were unknown when they came, lowest first. */
  private readonly unknown = new Map<string, readonly SignedVote[]>();

  constructor(ports: VotePoolPorts, kept = new KeptVotes()) {
    this.ports = ports;
    this.kept = kept;
  }

  async offer(votes: readonly SignedVote[]): Promise<Offered> {
    const { scheme, verifier } = this.ports;
    const asked = new Map<string, SignedVote>();
    for (const vote of votes) {
      const name = nameOf(vote);
      const isNew = typeof this.place(vote) === 'object' && !this.checking.has(name);
      if (!isNew || this.checking.size >= CHECKING_MAX) continue;
      this.checking.add(name);
      asked.set(name, copyOf(vote, scheme));
    }
    if (asked.size === 0) return { taken: [], offence: undefined };
    const copies = [...asked.values()];
    try {
      const verdicts = await verifier.verify(copies.map((vote) => voteCheck(vote, scheme)));
      const good = copies.filter((_, i) => verdicts[i]);
      return {
        taken: good.filter((vote) => this.keep(vote)),
        offence:
          good.length < copies.length ? misconduct('a vote has a wrong signature') : undefined,
      };
    } finally {
      for (const name of asked.keys()) this.checking.delete(name);
    }
  }

  /** A vote of this node. */
  own(vote: SignedVote): void {
    this.keep(vote);
  }

  /** True where it is kept. Its signature is good. */
  private keep(vote: SignedVote): boolean {
    const place = this.place(vote);
    if (typeof place === 'string') return false;
    if (place.givesWay !== undefined) this.kept.drop(place.givesWay);
    this.add(vote, place.at);
    return true;
  }

  private add(vote: SignedVote, at: Place): void {
    const contradiction = this.kept.add(vote, at === 'above');
    const { target } = vote;
    if (
      at === 'window' &&
      this.ports.view.membersOn(latin1(target.id), target.height) === undefined
    ) {
      const voter = latin1(vote.voter);
      const all = [...(this.unknown.get(voter) ?? []), vote];
      this.unknown.set(
        voter,
        all.sort((a, b) => a.target.height - b.target.height),
      );
    }
    if (contradiction !== undefined && this.evidence.add(contradiction)) {
      this.ports.onEvidence(contradiction);
    }
  }

  /** Where the vote would be kept, and which other vote gives way to it; or why it is not kept. */
  place(vote: SignedVote): { readonly at: Place; readonly givesWay?: SignedVote } | Reason {
    const { genesis, view } = this.ports;
    const { height, id } = vote.target;
    if (!equal(vote.genesis, genesis)) return 'other-network';
    if (height <= view.final()) return 'final-already';
    const isAbove = height > view.tip() + AHEAD_MAX;
    const members = view.membersOn(latin1(id), height);
    if (!(members ?? view.membersNext()).names.has(latin1(vote.voter))) return 'no-member';
    if (this.kept.isKnown(vote, isAbove)) return isAbove ? 'too-high' : 'known';
    if (isAbove) return { at: 'above' };
    if (this.kept.isTooLow(height)) return 'full';
    if (members !== undefined) return { at: 'window' };
    const unknown = this.unknownOf(latin1(vote.voter));
    const [lowest] = unknown;
    if (lowest === undefined || unknown.length < UNKNOWN_MAX) return { at: 'window' };
    if (lowest.target.height >= height) return 'unknown-targets';
    return { at: 'window', givesWay: lowest };
  }

  /** The votes of a voter for blocks that are still unknown, lowest first. */
  private unknownOf(voter: string): readonly SignedVote[] {
    const { view } = this.ports;
    const left = (this.unknown.get(voter) ?? []).filter(
      (one) =>
        this.kept.has(one) &&
        view.membersOn(latin1(one.target.id), one.target.height) === undefined,
    );
    if (left.length > 0) this.unknown.set(voter, left);
    else this.unknown.delete(voter);
    return left;
  }

  /** Blocks that are still unknown, each with those who have voted for it. */
  unknownTargets(): UnknownTarget[] {
    const found = new Map<string, UnknownTarget & { readonly voters: Set<string> }>();
    for (const voter of [...this.unknown.keys()]) {
      for (const { target } of this.unknownOf(voter)) {
        const key = checkpointKey(target);
        const one = found.get(key) ?? { key, height: target.height, voters: new Set<string>() };
        found.set(key, one);
        one.voters.add(voter);
      }
    }
    return [...found.values()];
  }

  /** The head or the final block has moved. Returns the votes that can be counted now. */
  moved(): readonly SignedVote[] {
    const { view } = this.ports;
    this.kept.dropTo(view.final());
    for (const voter of [...this.unknown.keys()]) this.unknownOf(voter);
    return this.kept.takeBelow(view.tip() + AHEAD_MAX).filter((vote) => this.keep(vote));
  }
}

/** Names the vote with its signature: a forged one must not hide the good one while it is checked. */
const nameOf = ({ voter, target, signature }: SignedVote): string =>
  `${checkpointKey(target)}${latin1(voter)}${latin1(signature)}`;

/** A vote read from a message is a view into the whole message. */
const copyOf = (vote: SignedVote, scheme: ChainScheme): SignedVote =>
  decodeVote(encodeVote(vote, scheme), scheme);
