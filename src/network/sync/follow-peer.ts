/**
 * Takes over the chain of one peer: the blocks that this node lacks are downloaded (download.ts), and
 * applied in portions (portions.ts, adopt-branch.ts) while the signatures of the next ones are
 * checked.
 *
 * Invariant: only adopted blocks, never announcements, make this node believe that it is far behind.
 */
import { misconduct } from '../../base/faults/misconduct.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { CheckedBlock } from '../../chain/apply/verify-block.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { BranchOutcome, ForkChoice } from '../../chain/fork/fork-choice.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Sessions } from '../sessions/session.ts';
import { Branch, branchBlocksMax, type Fetched } from './adopt-branch.ts';
import { createDownload, type Download } from './download.ts';
import { GivenUp, notGiven } from './given-up.ts';
import type { PeerTip, PeerTips } from './peer-tips.ts';
import { portionsOf, withLead } from './portions.ts';
import { createStallDetector, idleMsOf, type StallWatch } from './stall-detector.ts';

export interface FollowOptions {
  /** `extension-batch-size`: a node that lacks more than that is far behind. */
  readonly batch: number;
  readonly timeoutMs: number;
  readonly transactionBytesMax: number;
}

export interface FollowPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly forkChoice: ForkChoice;
  readonly peerTips: PeerTips;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Log;
  /** True where newer releases have rules that this node lacks: then broken ones blame nobody. */
  readonly isOutdated: (height: number) => boolean;
}

/** Portions being checked while one is applied. */
const PORTIONS_AHEAD = 2;

export class PeerFollower {
  private readonly batch: number;
  private readonly ports: FollowPorts;
  private readonly stalls: ReturnType<typeof createStallDetector>;
  private readonly download: Download;
  private stopped = false;
  /** Announced blocks of the followed peer that this node does not have. */
  missing = 0;

  constructor(options: FollowOptions, ports: FollowPorts) {
    this.batch = options.batch;
    this.ports = ports;
    this.stalls = createStallDetector(ports.clock);
    const onPlanned = (count: number): void => {
      this.missing += count;
    };
    const { forkChoice } = ports;
    this.download = createDownload(
      { ...options, onPlanned },
      {
        ...ports,
        invalid: forkChoice.invalid,
        depthMax: () => forkChoice.depthMax(),
        isOutdated: () => this.isOutdated(),
      },
    );
  }

  get isFarBehind(): boolean {
    return this.missing > this.batch && this.stalls.recentlyAdopted() > this.batch;
  }

  /** Resolves when all of the peer's chain is taken. Rejects with GivenUp. */
  async follow(target: PeerTip): Promise<void> {
    const { peerTips } = this.ports;
    this.reset();
    const leaving = new AbortController();
    const idleMs = idleMsOf(this.ports.forkChoice.depthMax());
    const watch = this.stalls.watch(target.session.owner, idleMs, () => {
      peerTips.ignore(target.session);
      leaving.abort(`no block that could be adopted in ${idleMs / 1000} s`);
    });
    try {
      await this.take(target, watch, leaving.signal);
    } catch (error) {
      if (error instanceof GivenUp && peerTips.hasRolledBack(target)) watch.rolledBack();
      throw error;
    } finally {
      watch.end();
      leaving.abort('the peer is no longer followed');
    }
  }

  /** No peer is followed: nothing is known to be missing. */
  reset(): void {
    this.missing = 0;
  }

  stop(): void {
    this.stopped = true;
    this.download.stop();
  }

  private async take(target: PeerTip, watch: StallWatch, left: AbortSignal): Promise<void> {
    const { blockchain, peerTips, log } = this.ports;
    const isOutdated = (): boolean => this.isOutdated();
    const isTie = target.score === blockchain.tip().score;
    const adopt = (blocks: readonly CheckedBlock[]) => this.adopt(blocks);
    const depthMax = (): number => this.ports.forkChoice.depthMax();
    const ports = { adopt, depthMax, peerTips, watch, isOutdated, log };
    const branch = new Branch(target.session, ports);
    const portions = portionsOf(this.checkedBlocks(target, left));
    for await (const portion of withLead(portions, PORTIONS_AHEAD)) {
      await branch.extend(portion);
      this.missing = Math.max(0, this.missing - portion.length);
    }
    if (isTie || branch.isLate) peerTips.markLost(target);
    else if (blockchain.tip().score < target.score) {
      const what = misconduct('a score without the blocks for it');
      throw await notGiven(target, what, peerTips);
    }
  }

  /** At the highest block that a branch may have. */
  private isOutdated(): boolean {
    const { blockchain, forkChoice, isOutdated } = this.ports;
    return isOutdated(blockchain.tip().height + branchBlocksMax(forkChoice.depthMax()));
  }

  private async adopt(branch: readonly CheckedBlock[]): Promise<BranchOutcome> {
    const verdict = await this.ports.forkChoice.adopt(branch);
    if (this.stopped) throw new GivenUp('the node stops', 'later');
    return verdict;
  }

  /** The blocks in order, with their signatures being checked. */
  private async *checkedBlocks(target: PeerTip, left: AbortSignal): AsyncGenerator<Fetched> {
    for await (const { block, session } of this.download.blocks(target, left)) {
      yield { ...(await this.ports.forkChoice.check(block)), session };
    }
  }
}
