/**
 * Voters whose heads are set by hand: whatever the network and the fork choice do, the rules of votes must
 * keep them safe. All blocks and all votes are known to the checks, and to whoever makes a block.
 */
import { latin1 } from '../../src/base/bytes.ts';
import type { Log } from '../../src/base/ports/log.ts';
import { justificationOf, voteFor } from '../../src/finality/carried.ts';
import { FIRST_NOTE, type Note } from '../../src/finality/note-file.ts';
import { type Rules, rules } from '../../src/finality/rules.ts';
import type { TrackedBlock } from '../../src/finality/tracked-block.ts';
import { Voter } from '../../src/finality/voter.ts';
import { type SignedVote, voteBytes } from '../../src/finality/votes/vote.ts';
import { decidingOn, type VoterSet } from '../../src/finality/votes/voter-set.ts';
import { family } from '../family.ts';
import { Dice } from '../system/sim/random.ts';
import { nodeClock, World } from '../system/sim/world.ts';
import { Checks } from './network/checks.ts';
import {
  accounts,
  genesisOf,
  makeBlock,
  type ToyBlock,
  trackedChild,
  trackedRoot,
} from './network/toy-chain.ts';
import { scheme } from './vectors.ts';

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const ROUND_MS = 1000;

export class Schedule {
  readonly checks: Checks;
  readonly root: ToyBlock;
  readonly index = new Map<string, TrackedBlock>();
  private readonly rules: Rules;
  private readonly dice = new Dice(7);
  private readonly world = new World(1_000_000);
  private readonly voters = new Map<number, Voter>();
  private readonly votes: SignedVote[] = [];
  private readonly liars: readonly number[];

  constructor(set: VoterSet, liars: readonly number[], changed: Partial<Rules> = {}) {
    this.rules = { ...rules, ...changed };
    this.checks = new Checks(this.rules);
    this.liars = liars;
    this.root = genesisOf(set);
    this.put(this.root, trackedRoot(this.root));
  }

  private put(block: ToyBlock, tracked: TrackedBlock): ToyBlock {
    this.index.set(tracked.id, tracked);
    this.checks.block(tracked, block);
    return block;
  }

  tracked(block: ToyBlock): TrackedBlock {
    return this.index.get(latin1(block.id))!;
  }

  /** It carries the votes for `carried` where there are enough. */
  block(parent: ToyBlock, { carried, entitled }: { carried?: ToyBlock; entitled?: VoterSet } = {}) {
    const justification = carried && this.justification(carried);
    const content = {
      timestamp: this.world.now,
      entitled: entitled ?? parent.entitled,
      carried: justification,
    };
    const block = makeBlock(parent, accounts[0]!, content, this.dice);
    return this.put(block, trackedChild(block, this.tracked(parent), this.index));
  }

  private justification(target: ToyBlock) {
    const tracked = this.tracked(target);
    const deciding = decidingOn(tracked.deciding, scheme, this.rules.decidingSets);
    return justificationOf(tracked, deciding, this.votes, this.rules.quorum);
  }

  /** These voters get the block as their head; liars vote for it whatever they signed before. */
  async head(block: ToyBlock, ...names: readonly number[]): Promise<void> {
    const tracked = this.tracked(block);
    for (const name of this.liars) this.lie(name, tracked);
    for (const name of names) {
      this.voters.set(name, this.voters.get(name) ?? this.voter(name, FIRST_NOTE));
      await this.world.runUntil(this.world.now + 2 * ROUND_MS);
      this.voters.get(name)!.head(tracked);
      await this.world.runUntil(this.world.now + 1);
    }
  }

  private lie(name: number, tracked: TrackedBlock): void {
    const { publicKey, privateKey } = accounts[name - 1]!;
    const deciding = decidingOn(tracked.deciding, scheme, this.rules.decidingSets);
    if (!deciding.members.names.has(latin1(publicKey))) return;
    const vote = voteFor(tracked, deciding, this.root.id);
    const signature = family.sign(privateKey, voteBytes(vote, scheme), this.dice);
    this.take({ ...vote, voter: publicKey, signature });
  }

  private take(vote: SignedVote): void {
    this.votes.push(vote);
    this.checks.vote(vote);
  }

  /** The next life of a voter, without its note; `final` is what it knows to be final. */
  forget(name: number, final: number): void {
    const voter = this.voter(name, undefined, final);
    this.voters.set(name, voter);
    voter.final(final);
  }

  private voter(name: number, note: Note | undefined, final = 1): Voter {
    const { publicKey, privateKey } = accounts[name - 1]!;
    return new Voter(
      note,
      { genesis: this.root.id, voter: publicKey, maxRollback: 2, roundMs: ROUND_MS },
      {
        scheme,
        clock: nodeClock(this.world, 0),
        log: silent,
        rules: this.rules,
        disk: { read: () => undefined, replace: async () => {}, remove: async () => {} },
        sign: (message) => family.sign(privateKey, message, this.dice),
        deciding: ({ deciding }) => decidingOn(deciding, scheme, this.rules.decidingSets),
        finalHeightAt: () => final,
        send: (vote) => this.take(vote),
      },
    );
  }

  /** Kinds of the problems that were found. */
  problems(): string[] {
    return [...new Set(this.checks.problems.map(({ kind }) => kind))];
  }
}
