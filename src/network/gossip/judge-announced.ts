/**
 * Judges announced blocks by their transactions, and leaves a turn to sync once its generator has
 * signed enough blocks that break a rule (network.md#gossip-of-blocks). A generator whose session
 * does not name it cannot be blamed, and signs as many of them as it likes.
 *
 * Invariants: only a block that its generator has signed and that breaks a rule counts, so nobody
 * else can spend a turn; blocks of one generator and turn are judged one after the other, so no
 * more of them are judged than count; another generator and another turn are not affected.
 */

import { type Block, blockId } from '../../block/block.ts';
import type { Header } from '../../block/header.ts';
import type { BranchOutcome, ForkChoice } from '../../chain/fork/fork-choice.ts';
import { KeyedMutex } from '../../concurrency/keyed-mutex.ts';
import { type Consensus, turnKey } from '../../consensus/consensus.ts';
import { TurnCounts } from './turn-counts.ts';

/** `unjudged`: the turn is left to sync. */
export type Verdict = BranchOutcome | { readonly kind: 'unjudged' };

export interface JudgePorts {
  readonly consensus: Pick<Consensus, 'turnOf'>;
  readonly forkChoice: {
    readonly invalid: Pick<ForkChoice['invalid'], 'has'>;
    readonly offer: ForkChoice['offer'];
  };
}

/** The first may be of a broken node: another one with the same keys may make a good block yet. */
const INVALID_OF_TURN_MAX = 2;

export class AnnouncedJudge {
  private readonly ports: JudgePorts;
  private readonly invalid: TurnCounts;
  private readonly inOrder = new KeyedMutex();

  constructor(ports: JudgePorts) {
    this.ports = ports;
    this.invalid = new TurnCounts(INVALID_OF_TURN_MAX, ports.consensus);
  }

  /** True where no more blocks of this generator and turn are judged, nor worth fetching. */
  isSpent(header: Header): boolean {
    return this.invalid.isReached(header);
  }

  /** The block is known to be signed. Rejects where this node could not do its part. */
  judge(block: Block): Promise<Verdict> {
    const { header } = block;
    const { forkChoice, consensus } = this.ports;
    return this.inOrder.run(turnKey(header, consensus), async () => {
      if (this.isSpent(header)) return { kind: 'unjudged' };
      const verdict = await forkChoice.offer(block, { isSigned: true });
      // What is not remembered as invalid is not the generator's fault, or may become valid.
      const isBroken = verdict.kind === 'invalid' && forkChoice.invalid.has(blockId(block));
      if (isBroken) this.invalid.add(header);
      return verdict;
    });
  }
}
