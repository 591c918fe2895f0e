/**
 * Applies the blocks of a followed peer, a portion at a time (network.md#sync). A branch that is not
 * better yet waits in memory until it is.
 *
 * Invariants: blocks are applied in order, from any sender; the sender of a forged block is
 * penalised, and the followed peer for a signed block that breaks a rule; the branch is bounded.
 */
import { equal } from '../../base/bytes.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import type { Log } from '../../base/ports/log.ts';
import { blockId } from '../../block/block.ts';
import type { CheckedBlock } from '../../chain/apply/verify-block.ts';
import type { BranchOutcome, ForkChoice } from '../../chain/fork/fork-choice.ts';
import type { Session } from '../sessions/session.ts';
import { Blamed, GivenUp } from './given-up.ts';
import type { PeerTips } from './peer-tips.ts';
import type { StallWatch } from './stall-detector.ts';

/** A block on its way into the chain, and its sender. */
export interface Fetched extends CheckedBlock {
  readonly session: Session;
}

export interface BranchPorts {
  readonly adopt: ForkChoice['adopt'];
  /** Blocks that may be given up for the branch. */
  readonly depthMax: () => number;
  readonly peerTips: Pick<PeerTips, 'ignore'>;
  readonly watch: Pick<StallWatch, 'adopted' | 'unusable'>;
  readonly isOutdated: () => boolean;
  readonly log: Pick<Log, 'error'>;
}

const BLOCKS_MAX = 1_000;
/** Blocks of a branch that is not better yet, where so many of ours may be given up for it. */
export const branchBlocksMax = (depthMax: number): number => Math.max(BLOCKS_MAX, 2 * depthMax);
const BRANCH_BYTES_MAX = 256 * 1024 * 1024;

export class Branch {
  private readonly followed: Session;
  private readonly ports: BranchPorts;
  private blocks: Fetched[] = [];
  /** Better than our chain, but too late to replace it (chain-choice.ts), or outvoted: nobody's fault. */
  isLate = false;

  constructor(followed: Session, ports: BranchPorts) {
    this.followed = followed;
    this.ports = ports;
  }

  /** Offers the branch with these blocks at its end. Rejects with GivenUp. */
  async extend(portion: readonly Fetched[]): Promise<void> {
    const { adopt, watch } = this.ports;
    this.blocks.push(...portion);
    this.requireBounded();
    const verdict = await adopt(this.blocks);
    const kind = verdict.kind === 'future' ? await this.adoptBefore(verdict.id) : verdict.kind;
    this.isLate = kind === 'late' || kind === 'outvoted';
    if (verdict.kind === 'not-better' || this.isLate) return;
    if (verdict.kind === 'unknown-parent') watch.unusable();
    this.requireAdopted(verdict);
    if (verdict.kind === 'adopted') watch.adopted(this.blocks.length);
    this.blocks = [];
  }

  /**
   * A clock that is behind by more than a round finds a block of the future in nearly each portion, and
   * what stands before that block is good.
   */
  private async adoptBefore(future: Uint8Array): Promise<BranchOutcome['kind']> {
    const at = this.blocks.findIndex(({ block }) => equal(blockId(block), future));
    if (at <= 0) return 'future';
    const { kind } = await this.ports.adopt(this.blocks.slice(0, at));
    if (kind === 'adopted') this.ports.watch.adopted(at);
    return kind;
  }

  private requireBounded(): void {
    const { depthMax, peerTips, log } = this.ports;
    if (this.blocks.length > branchBlocksMax(depthMax())) {
      throw new Blamed(misconduct('a long branch that is not better'));
    }
    const bytes = this.blocks.reduce((sum, { block }) => sum + block.bytes.length, 0);
    if (bytes <= BRANCH_BYTES_MAX) return;
    // Of two halves of a network with full blocks, which parted long ago, neither has done wrong.
    const why = 'a branch has too many bytes before it is better';
    log.error('fork.too-deep', { peer: this.followed.nodeName, max: BRANCH_BYTES_MAX, why });
    peerTips.ignore(this.followed);
    throw new GivenUp(why, 'later');
  }

  private requireAdopted(verdict: BranchOutcome): void {
    switch (verdict.kind) {
      case 'adopted':
      case 'known':
        return;
      case 'invalid': {
        const { id, error, isForged } = verdict;
        if (!isForged && this.ports.isOutdated()) {
          this.ports.peerTips.ignore(this.followed);
          throw new GivenUp(error.message, 'later');
        }
        // A forgery says nothing about the chain; a signed block that breaks a rule is part of it.
        const sender = this.blocks.find(({ block }) => equal(blockId(block), id))?.session;
        const culprit = isForged && sender !== undefined ? sender : this.followed;
        culprit.offend('invalid-block', error);
        throw new Blamed(error, culprit);
      }
      case 'too-deep':
        this.ports.peerTips.ignore(this.followed);
        throw new GivenUp('a branch that parts too deep', 'later');
      default:
        // The block may become valid later, or our own head has moved meanwhile.
        throw new GivenUp(verdict.kind, 'later');
    }
  }
}
