/**
 * The chain: one head, moved only by a durable commit (blocks.md#checks-of-a-received-block,
 * consensus.md#choice-between-forks).
 *
 * Invariants: every job that changes the state runs in one mutex; a job works on
 * private overlays, so readers see the old head or the new one and nothing between; listeners are
 * called after the commit.
 */
import type { Block } from '../block/block.ts';
import { Mutex } from '../concurrency/mutex.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { MinerIdentity, Slot } from '../consensus/consensus.ts';
import type { KeyedView } from '../ledger/committed-view.ts';
import { u32Key } from '../ledger/key-codecs.ts';
import { scripts, stateHashes } from '../ledger/tables.ts';
import { activeFeatures } from '../tx/rules/features.ts';
import type { Tx } from '../tx/transaction.ts';
import { ableMiners, countedMiners } from './apply/counted-miners.ts';
import { ChainHead, type ChainListener } from './chain-head.ts';
import {
  type BlockchainOptions,
  type BlockchainPorts,
  type ChainMetrics,
  ChainWriter,
} from './chain-writer.ts';
import type { Tip } from './tip.ts';

export type { BlockchainOptions, BlockchainPorts, ChainMetrics };

export class Blockchain {
  readonly view: KeyedView;
  readonly #options: BlockchainOptions;
  readonly #ports: BlockchainPorts;
  readonly #head: ChainHead;
  readonly #writer: ChainWriter;
  readonly #headMoves = new Mutex();

  constructor(options: BlockchainOptions, ports: BlockchainPorts) {
    const slice = new TimeSlice(ports.clock);
    const duration = ports.metrics?.commit;
    const head = new ChainHead(options.undoDepth, { ...ports, slice, duration });
    this.view = head.view;
    this.#options = options;
    this.#ports = ports;
    this.#head = head;
    this.#writer = new ChainWriter(options, { ...ports, slice, head });
  }

  /** True before `found`. */
  isEmpty(): boolean {
    return this.#head.isEmpty;
  }

  tip(): Tip {
    return this.#head.tip;
  }

  /** The disk has refused the last write. */
  isFailing(): boolean {
    return this.#head.isFailing;
  }

  /** The features that are active in a block at this height above the head, or above a block below it. */
  featuresAt(height: number): ReadonlySet<number> {
    return activeFeatures(this.view, height, this.#options.rules);
  }

  /**
   * The features that are active in a block at this height of a branch that leaves this chain above
   * `ancestor`. Undefined so far above that the votes of the branch itself decide.
   */
  featuresOfBranch(ancestor: number, height: number): ReadonlySet<number> | undefined {
    // What is approved above the ancestor becomes active a window later.
    const { featureCheckBlocks } = this.#options.rules;
    return height - ancestor > featureCheckBlocks ? undefined : this.featuresAt(height);
  }

  stateHash(height: number): Uint8Array | undefined {
    return this.#ports.store.get(stateHashes.id, u32Key.encode(height));
  }

  /** Writes the genesis block into an empty store. */
  found(genesis: Block): Promise<void> {
    return this.exclusive((chain) => chain.found(genesis));
  }

  /** Checks and appends a block. Throws ApiError. */
  append(block: Block): Promise<void> {
    return this.exclusive((chain) => chain.append(block));
  }

  /** The lowest height that undo records lead back to. */
  lowestReachable(): number {
    return this.#head.lowestReachable();
  }

  /** Gives the job the right to write, when all jobs before it have ended. */
  exclusive<T>(job: (chain: ChainWriter) => Promise<T>): Promise<T> {
    return this.#headMoves.run(() => job(this.#writer));
  }

  /** Undefined also for an account with a script, which makes no blocks. */
  nextSlot(miner: MinerIdentity, now: number): Slot | undefined {
    if (this.view.get(scripts, miner.address) !== undefined) return undefined;
    return this.#options.consensus.nextSlot(this.tip(), miner, now, this.#head.consensus());
  }

  /** The accounts that may make blocks at a time after the head. */
  ableMiners(now: number): readonly Uint8Array[] {
    return ableMiners(this.view, this.#head.consensus(), now);
  }

  /** Those of which a majority has to be connected; see counted-miners.ts. */
  countedMiners(now: number): readonly Uint8Array[] {
    return countedMiners(this.view, this.#head.consensus(), now);
  }

  /** Rolls back all blocks above `height`; returns their transactions. Throws ApiError. */
  rollback(height: number): Promise<readonly Tx[]> {
    return this.exclusive((chain) => chain.rollBack(height));
  }

  listen(listener: ChainListener): () => void {
    return this.#head.listen(listener);
  }

  /** Resolves when no job waits or runs. */
  idle(): Promise<void> {
    return this.#headMoves.idle();
  }
}
