/**
 * What is justified and what is final, as this node knows it: from the votes that it keeps, and from the
 * justifications that blocks carry (finality.md#votes, #fork-choice).
 *
 * Invariants: the final block only moves to descendants of itself; what would contradict it is kept as a
 * conflict and changes nothing. Nothing below the final block is kept. No step depends on the distance to
 * the final block where the index finds ancestors at once.
 */
import { equal, latin1 } from '../base/bytes.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { justificationOf, voteFor } from './carried.ts';
import type { FinalProof } from './proofs/final-proof.ts';
import type { Justification } from './proofs/justification.ts';
import type { Rules } from './rules.ts';
import { ancestorAt, type BlockIndex, madeFinal, type TrackedBlock } from './tracked-block.ts';
import type { Checkpoint, SignedVote } from './votes/vote.ts';
import { type Deciding, decidingOn, type VoterSet } from './votes/voter-set.ts';
import type { VoterSets } from './votes/voter-sets.ts';

export interface TrackerPorts {
  readonly blocks: BlockIndex;
  /** Votes for a block whose signatures are good; what else is wrong with them is judged here. */
  readonly votesFor: (id: string) => Iterable<SignedVote>;
  readonly genesis: Uint8Array;
  readonly scheme: ChainScheme;
  readonly rules: Rules;
}

/** `proof` is absent at the root. */
export interface FinalBlock extends Checkpoint {
  readonly proof?: FinalProof;
}

/** A justified block. */
interface Ranked {
  readonly id: string;
  readonly height: number;
}

export class Tracker {
  private readonly ports: TrackerPorts;
  private readonly justifications = new Map<string, Justification>();
  /** The same, lowest first. */
  private readonly ranked: Ranked[] = [];
  private readonly decidings = new WeakMap<VoterSets<VoterSet>, Deciding>();
  /** The highest final block that this node knows. */
  final: FinalBlock;
  /** The highest justified block. */
  justified: Checkpoint;
  /** Two proofs of final blocks of which neither is above the other: a third of the voters lies. */
  conflict: readonly [own: FinalBlock, other: FinalBlock] | undefined;

  /** Blocks above `final` are added afterwards, in the order of their heights. */
  constructor(final: FinalBlock, ports: TrackerPorts) {
    this.ports = ports;
    this.final = final;
    this.justified = final;
    const child = final.proof && blockAt(final.proof.link.target, ports.blocks);
    if (child !== undefined && final.proof !== undefined) {
      this.justify(child, final.proof.justification);
    }
  }

  /** Who decides on a child of the block that left these sets. */
  deciding(sets: VoterSets<VoterSet>): Deciding {
    const known = this.decidings.get(sets);
    if (known !== undefined) return known;
    const { scheme, rules } = this.ports;
    const made = decidingOn(sets, scheme, rules.decidingSets);
    this.decidings.set(sets, made);
    return made;
  }

  /** A block came into the index; its justification was judged. */
  added(block: TrackedBlock): void {
    const { carried } = block;
    const target = carried && blockAt(carried.target, this.ports.blocks);
    if (target !== undefined && carried !== undefined) this.justify(target, carried);
    this.recount(block);
  }

  /** There are more votes for the block, if it is known. */
  voted(id: string, height: number): void {
    const block = this.ports.blocks.get(id, height);
    if (block !== undefined) this.recount(block);
  }

  private recount(block: TrackedBlock): void {
    if (block.checkpoint.height <= this.final.height || this.justifications.has(block.id)) return;
    const deciding = this.deciding(block.deciding);
    const { votesFor, rules } = this.ports;
    const justification = justificationOf(block, deciding, votesFor(block.id), rules.quorum);
    if (justification !== undefined) this.justify(block, justification);
  }

  private justify(block: TrackedBlock, justification: Justification): void {
    const { id, checkpoint } = block;
    if (this.justifications.has(id) || checkpoint.height < this.final.height) return;
    this.rank(id, justification);
    if (checkpoint.height > this.justified.height) this.justified = checkpoint;
    const made = madeFinal(block);
    if (made === undefined) return;
    const { genesis } = this.ports;
    const link = voteFor(block, this.deciding(block.deciding), genesis);
    this.finalise({ ...made, proof: { link, justification } });
  }

  private rank(id: string, justification: Justification): void {
    const { height } = justification.target;
    this.justifications.set(id, justification);
    let at = this.ranked.length;
    while (at > 0 && this.ranked[at - 1]!.height > height) at--;
    this.ranked.splice(at, 0, { id, height });
  }

  private finalise(block: FinalBlock): void {
    const { final } = this;
    const [low, high] = block.height > final.height ? [final, block] : [block, final];
    // Nothing says so of a block below those that are kept.
    if (blockAt(low, this.ports.blocks) === undefined) return;
    if (!this.isBelow(low, high)) {
      this.conflict ??= [final, block];
      return;
    }
    if (high === final) return;
    this.final = block;
    for (let first = this.ranked[0]; first !== undefined && first.height < block.height; ) {
      this.justifications.delete(first.id);
      this.ranked.shift();
      first = this.ranked[0];
    }
  }

  private isBelow(low: Checkpoint, high: Checkpoint): boolean {
    const { blocks } = this.ports;
    const block = blockAt(high, blocks);
    const at = block && ancestorAt(block, low.height, blocks);
    return at !== undefined && equal(at.checkpoint.id, low.id);
  }

  justificationOf(id: string): Justification | undefined {
    return this.justifications.get(id);
  }

  isJustified(id: string): boolean {
    return this.justifications.has(id);
  }

  /** The highest justified block of the chain that ends with this one, above a height. */
  justifiedBelow(block: TrackedBlock, above: number): Ranked | undefined {
    for (let i = this.ranked.length - 1; i >= 0; i--) {
      const one = this.ranked[i]!;
      if (one.height <= above) return undefined;
      if (one.height > block.checkpoint.height) continue;
      if (ancestorAt(block, one.height, this.ports.blocks)?.id === one.id) return one;
    }
    return undefined;
  }

  /** The highest justification that a child of the block may carry. */
  toCarry(parent: TrackedBlock): Justification | undefined {
    const found = this.justifiedBelow(parent, parent.source.height);
    return found && this.justifications.get(found.id);
  }
}

const blockAt = ({ id, height }: Checkpoint, blocks: BlockIndex): TrackedBlock | undefined =>
  blocks.get(latin1(id), height);
