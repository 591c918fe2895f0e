/**
 * Two proofs of final blocks of which neither is above the other (finality.md#contradictions): more than a third
 * of the voters has lied. One of the two is of the own chain.
 *
 * Invariants: signatures are verified before a proof counts; a few of the proofs above the own final block are
 * kept, since their chains are not known; what is compared is the chain of the final block, which the own head may have
 * left for a moment.
 */
import { equal, latin1 } from '../base/bytes.ts';
import { type Misconduct, misconduct } from '../base/faults/misconduct.ts';
import type { Log } from '../base/ports/log.ts';
import type { SignatureCheck, Verifier } from '../base/ports/verifier.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { FinalProof } from './proofs/final-proof.ts';
import { hasQuorum, justificationChecks } from './proofs/justification.ts';
import type { Rules } from './rules.ts';
import { ancestorAt, type BlockIndex, type TrackedBlock } from './tracked-block.ts';
import type { Tracker } from './tracker.ts';
import type { Checkpoint, Vote } from './votes/vote.ts';
import type { VoterSet } from './votes/voter-set.ts';
import type { VoterSets } from './votes/voter-sets.ts';

export interface Conflict {
  /** The highest final block of the own chain. */
  readonly own: Checkpoint;
  /** The proof of a block that the own chain lacks. */
  readonly other: FinalProof;
}

export interface ConflictPorts {
  readonly genesis: Uint8Array;
  readonly scheme: ChainScheme;
  readonly rules: Rules;
  readonly blocks: BlockIndex;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly tracker: Tracker;
  readonly log: Log;
  readonly head: () => TrackedBlock;
  /** `change` is that of the sets that decided on the other block. */
  readonly onConflict?: (found: Conflict, change: number) => void;
}

interface Claim {
  readonly proof: FinalProof;
  /** That of the sets that decided. */
  readonly change: number;
}

const CLAIMS_MAX = 8;

export class Conflicts {
  private readonly ports: ConflictPorts;
  private claims: readonly Claim[] = [];
  private reported: Conflict | undefined;
  private older = '';

  constructor(ports: ConflictPorts) {
    this.ports = ports;
  }

  /** The sets with this rule hash, where this node knows them. */
  setsOf({ ruleHash, source, target }: Vote): VoterSets<VoterSet> | undefined {
    const { blocks, tracker } = this.ports;
    const head = this.ports.head();
    const known = blocks.get(latin1(target.id), target.height);
    const own = ancestorAt(head, source.height, blocks);
    return [known?.deciding, own?.leaves, head.leaves, head.deciding].find(
      (one) => one !== undefined && equal(tracker.deciding(one).ruleHash, ruleHash),
    );
  }

  /** A peer has sent the proof of its final block. What it returns is held against the peer. */
  async take(proof: FinalProof): Promise<Misconduct | undefined> {
    const { genesis, source } = proof.link;
    // A network that was made anew with its keys has the rule hashes of the one before.
    if (!equal(genesis, this.ports.genesis)) return undefined;
    const sets = this.setsOf(proof.link);
    if (sets === undefined || this.isFinal(source) || this.isKnown(source)) return undefined;
    const checks = this.checksOf(proof, sets);
    if (checks === undefined) return undefined;
    const verdicts = await this.ports.verifier.verify(checks);
    if (!verdicts.every((isGood) => isGood)) return misconduct('a proof has a wrong signature');
    this.claims = [...this.claims, { proof, change: sets.change }]
      .sort((a, b) => a.proof.link.source.height - b.proof.link.source.height)
      .slice(0, CLAIMS_MAX);
    this.compare();
    return undefined;
  }

  /** More may be final now. */
  compare(): void {
    const { tracker, blocks } = this.ports;
    const inIndex = tracker.conflict?.[1].proof;
    if (inIndex !== undefined) {
      const { target } = inIndex.link;
      const change = blocks.get(latin1(target.id), target.height)?.deciding.change ?? 0;
      this.judge({ proof: inIndex, change });
    }
    const { height } = tracker.final;
    const decided = this.claims.filter(({ proof }) => proof.link.source.height <= height);
    if (decided.length === 0) return;
    this.claims = this.claims.slice(decided.length);
    for (const claim of decided) this.judge(claim);
  }

  private isKnown(one: Checkpoint): boolean {
    const known = [...this.claims.map(({ proof }) => proof), this.reported?.other];
    return known.some((each) => each !== undefined && equal(each.link.source.id, one.id));
  }

  private isFinal({ height, id }: Checkpoint): boolean {
    const at = this.finalAt(height);
    return at !== undefined && equal(at.id, id);
  }

  private finalAt(height: number): Checkpoint | undefined {
    const { tracker, blocks } = this.ports;
    const final = blocks.get(latin1(tracker.final.id), tracker.final.height);
    const found = final && ancestorAt(final, height, blocks)?.checkpoint;
    return found?.height === height ? found : undefined;
  }

  /** Undefined where they are no votes of a quorum. */
  private checksOf(
    { link, justification }: FinalProof,
    sets: VoterSets<VoterSet>,
  ): SignatureCheck[] | undefined {
    const { scheme, rules, tracker } = this.ports;
    const deciding = tracker.deciding(sets);
    const { keys } = deciding.members;
    if (justification.votes.length !== keys.length) return undefined;
    if (!hasQuorum(justification, deciding, rules.quorum)) return undefined;
    return justificationChecks(justification, link, keys, scheme);
  }

  private judge({ proof, change }: Claim): void {
    const { tracker, log, head, onConflict } = this.ports;
    const { source } = proof.link;
    const own = this.finalAt(source.height);
    if (this.reported !== undefined || own === undefined || equal(own.id, source.id)) return;
    // Keys of those who voted long ago may be stolen.
    if (change < head().leaves.change - 1) {
      const key = latin1(source.id);
      if (key !== this.older) log.warn('finality.older-conflict', { height: source.height });
      this.older = key;
      return;
    }
    const { height, id } = tracker.final;
    this.reported = { own: { height, id }, other: proof };
    onConflict?.(this.reported, change);
  }
}
