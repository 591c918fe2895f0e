/**
 * What must hold at every step (finality.md). It knows all blocks, and all votes that anybody has sent, so it
 * sees what no single node does.
 */
import { latin1 } from '../../../src/base/bytes.ts';
import { encodeHex } from '../../../src/base/hex.ts';
import { isVoteFor } from '../../../src/finality/carried.ts';
import type { Rules } from '../../../src/finality/rules.ts';
import { madeFinal, type TrackedBlock } from '../../../src/finality/tracked-block.ts';
import { areContradictory } from '../../../src/finality/votes/evidence.ts';
import type { SignedVote } from '../../../src/finality/votes/vote.ts';
import {
  type Deciding,
  decidingOn,
  isQuorumOfEach,
} from '../../../src/finality/votes/voter-set.ts';
import { scheme } from '../vectors.ts';
import type { ToyBlock } from './toy-chain.ts';

export type Kind =
  | 'two final'
  | 'two justified'
  | 'reverted'
  | 'two sides ahead'
  | 'own contradiction'
  | 'note behind'
  | 'views'
  | 'evidence'
  | 'proof'
  | 'late'
  | 'standstill';

export interface Problem {
  readonly kind: Kind;
  readonly what: string;
}

export class Checks {
  readonly problems: Problem[] = [];
  private readonly rules: Rules;
  private readonly blocks = new Map<string, TrackedBlock>();
  private readonly toys = new Map<string, ToyBlock>();
  private readonly decidings = new WeakMap<object, Deciding>();
  private readonly votes = new Map<string, Map<string, SignedVote>>();
  private readonly justified = new Map<number, string>();
  private readonly finals = new Map<number, string>();
  private readonly known = new Set<string>();
  /** Votes that a note on disk had, which may be lost since. */
  private readonly noted = new Set<string>();
  /** Of each voter, since it lost its note. */
  private readonly sent = new Map<string, SignedVote[]>();
  /** The highest block that anybody knows to be final. */
  finalHeight = 1;

  constructor(rules: Rules) {
    this.rules = rules;
  }

  say(kind: Kind, what: string): void {
    if (this.problems.length < 200) this.problems.push({ kind, what });
  }

  /** A node has this block in its index. */
  block(tracked: TrackedBlock, toy: ToyBlock): void {
    const { id } = tracked;
    const known = this.blocks.get(id);
    if (known === undefined) {
      this.blocks.set(id, tracked);
      this.toys.set(id, toy);
      this.recount(id);
      return;
    }
    const hash = (block: TrackedBlock): string => encodeHex(this.deciding(block).ruleHash);
    const isSame = known.source.height === tracked.source.height && hash(known) === hash(tracked);
    if (!isSame) this.say('views', `two nodes differ on block ${tracked.checkpoint.height}`);
  }

  /** Anybody has sent this vote. */
  vote(vote: SignedVote): void {
    const id = latin1(vote.target.id);
    const votes = this.votes.get(id) ?? new Map<string, SignedVote>();
    this.votes.set(id, votes);
    const voter = latin1(vote.voter);
    if (votes.has(voter)) return;
    votes.set(voter, vote);
    this.recount(id);
  }

  private deciding({ deciding }: TrackedBlock): Deciding {
    const known = this.decidings.get(deciding);
    if (known !== undefined) return known;
    const made = decidingOn(deciding, scheme, this.rules.decidingSets);
    this.decidings.set(deciding, made);
    return made;
  }

  private recount(id: string): void {
    const block = this.blocks.get(id);
    if (block === undefined) return;
    const { height } = block.checkpoint;
    const deciding = this.deciding(block);
    const votes = this.votes.get(id);
    const has = (voter: string): boolean => {
      const vote = votes?.get(voter);
      return vote !== undefined && isVoteFor(vote, block, deciding);
    };
    if (!isQuorumOfEach(deciding, this.rules.quorum, has)) return;
    const other = this.justified.get(height);
    if (other !== undefined && other !== id) {
      this.say('two justified', `two blocks at height ${height}`);
    }
    this.justified.set(height, id);
    const made = madeFinal(block);
    if (made !== undefined) this.final(latin1(made.id));
  }

  /** By all votes there are, or by those that a node knows. */
  final(id: string): void {
    let at = this.toys.get(id);
    this.finalHeight = Math.max(this.finalHeight, at?.height ?? 0);
    for (; at !== undefined; at = at.parent) {
      const here = latin1(at.id);
      const known = this.finals.get(at.height);
      if (known === here) return;
      if (known !== undefined) {
        this.say('two final', `two blocks at height ${at.height}`);
        return;
      }
      this.finals.set(at.height, here);
    }
  }

  /** The disk of its voter has it: a proof may carry it on where nobody was there to be sent it. */
  onDisk(vote: SignedVote): void {
    this.noted.add(nameOf(vote));
  }

  /** An honest voter sends its own vote; `note` is the height of the target of its note on disk. */
  own(vote: SignedVote, note: number | undefined): void {
    const voter = latin1(vote.voter);
    const { height } = vote.target;
    const name = nameOf(vote);
    // Sent again, perhaps since another node has sent it back.
    if (this.known.has(name)) return;
    this.known.add(name);
    if ((note === undefined || note < height) && !this.noted.has(name)) {
      this.say('note behind', `vote for ${height} is sent, the note has ${note}`);
    }
    const before = this.sent.get(voter) ?? [];
    this.sent.set(voter, before);
    if (before.some((one) => areContradictory(one, vote))) {
      this.say('own contradiction', `vote ${vote.source.height} → ${height}`);
    }
    before.push(vote);
  }

  /** What it sends from now on may contradict what it sent before. */
  lostNote(voter: Uint8Array): void {
    this.sent.delete(latin1(voter));
  }
}

const nameOf = ({ voter, signature }: SignedVote): string => latin1(voter) + latin1(signature);
