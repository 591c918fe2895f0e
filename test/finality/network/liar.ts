/**
 * A voter that lies: it votes for every block that it sees, shows each vote to some and later to others,
 * withholds its blocks, and sends votes that are wrong in other ways.
 */
import { concat, latin1 } from '../../../src/base/bytes.ts';
import { voteFor } from '../../../src/finality/carried.ts';
import { type SignedVote, type Vote, voteBytes } from '../../../src/finality/votes/vote.ts';
import { decidingOn } from '../../../src/finality/votes/voter-set.ts';
import { encodeVotes } from '../../../src/finality/votes/votes-message.ts';
import { family } from '../../family.ts';
import type { Dice } from '../../system/sim/random.ts';
import type { NodeClock } from '../../system/sim/world.ts';
import { scheme } from '../vectors.ts';
import type { Member, Network } from './network.ts';
import { ROUND_MS } from './node.ts';
import type { ToyBlock } from './toy-chain.ts';

export class Liar {
  private readonly member: Member;
  private readonly network: Network;
  private readonly clock: NodeClock;
  private readonly dice: Dice;
  /** Share of its votes that it shows to a node only if others pass them on. */
  private readonly hidden: number;

  constructor(member: Member, network: Network, clock: NodeClock, dice: Dice) {
    this.member = member;
    this.network = network;
    this.clock = clock;
    this.dice = dice;
    this.hidden = dice.pick([0.2, 0.6]);
  }

  saw(block: ToyBlock): void {
    const { node } = this.member;
    if (!this.network.areLiarsActive || node === undefined) return;
    const tracked = node.tracked(block);
    const deciding = decidingOn(tracked.deciding, scheme, node.settings.rules.decidingSets);
    const isMember = deciding.members.names.has(latin1(this.member.account.publicKey));
    if (isMember) {
      const vote = this.signed(voteFor(tracked, deciding, node.settings.genesis.id));
      this.network.checks.vote(vote);
      this.show(this.dice.happens(0.3) ? this.misplaced(vote) : vote);
    }
    if (this.dice.happens(0.1)) this.annoy(tracked.checkpoint.height);
    // It also is the only way for a block to reach the other side.
    this.later(() => this.network.broadcast(this.member, { kind: 'block', block }));
  }

  private signed({ genesis, ruleHash, source, target }: Vote): SignedVote {
    const { publicKey: voter, privateKey } = this.member.account;
    const vote = { genesis, ruleHash, source, target };
    return {
      ...vote,
      voter,
      signature: family.sign(privateKey, voteBytes(vote, scheme), this.dice),
    };
  }

  /** It names the block, and another height. */
  private misplaced(vote: Vote): SignedVote {
    const height = vote.target.height + 1 + this.dice.below(3);
    return this.signed({ ...vote, target: { ...vote.target, height } });
  }

  /** To each other node at a time of its own, or never. */
  private show(vote: SignedVote): void {
    const bytes = encodeVotes([vote], scheme);
    for (const to of this.network.members) {
      if (to === this.member || this.dice.happens(this.hidden)) continue;
      this.later(() => this.network.send(this.member, to, { kind: 'votes', bytes }));
    }
  }

  /** At once, or after some rounds. */
  private later(action: () => void): void {
    const rounds = this.dice.happens(0.6) ? 0 : this.dice.below(8);
    this.clock.after(rounds * ROUND_MS + 1, () => {
      if (this.network.areLiarsActive) action();
    });
  }

  private annoy(height: number): void {
    const { genesis } = this.member.node!.settings;
    const nowhere = { height: height + this.dice.below(30), id: this.dice.bytes(32) };
    const source = { height: 1, id: genesis.id };
    const ruleHash = this.dice.bytes(32);
    if (nowhere.height < 2) return;
    const vote = this.signed({ genesis: genesis.id, ruleHash, source, target: nowhere });
    const isWrong = this.dice.happens(0.3);
    const bytes = encodeVotes(
      [isWrong ? { ...vote, signature: this.dice.bytes(64) } : vote],
      scheme,
    );
    const junk = this.dice.happens(0.2) ? concat(bytes, this.dice.bytes(3)) : bytes;
    this.network.broadcast(this.member, { kind: 'votes', bytes: junk });
  }

  /** A block on whichever branch, which it may keep for itself for some time. */
  mine(): void {
    const { node } = this.member;
    if (node === undefined) return;
    const parents = [...node.toys.values()].slice(-4);
    const parent = this.dice.happens(0.5) ? node.head : this.dice.pick(parents);
    node.take(this.network.blockOn(parent, this.member, node));
  }
}
