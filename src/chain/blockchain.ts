/**
 * The chain: one head, moved only by a durable commit (blocks.md#checks-of-a-received-block,
 * consensus.md#choice-between-forks).
 *
 * Invariants: every job that changes the state runs in one mutex; a job works on
 * private overlays, so readers see the old head or the new one and nothing between; listeners are
 * called after the commit.
 */
import { assert } from '../base/assert.ts';
import { apiError } from '../base/errors.ts';
import type { Clock, Histogram, Log, Store, Verifier } from '../base/ports.ts';
import type { Block } from '../block/block.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { Mutex } from '../concurrency/mutex.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import {
  type ConsensusView,
  isFromFuture,
  type MinerIdentity,
  type Slot,
} from '../consensus/consensus.ts';
import type { KeyedView } from '../ledger/committed-view.ts';
import { u32Key } from '../ledger/key-codecs.ts';
import { scripts, stateHashes } from '../ledger/tables.ts';
import { activeFeatures } from '../tx/rules/features.ts';
import type { Tx } from '../tx/transaction.ts';
import { type AppliedBlock, type ApplierOptions, BlockApplier } from './apply/block-applier.ts';
import { consensusView } from './apply/consensus-view.ts';
import { countedMiners } from './apply/counted-miners.ts';
import {
  completed,
  headerInTurn,
  type MinerKey,
  type Packer,
  packLimits,
  sealInTurn,
} from './apply/produce-block.ts';
import { createScriptTime } from './apply/script-time.ts';
import {
  decodeTransactions,
  type KnownVerdicts,
  NOTHING_KNOWN,
  type ReplayedBlock,
  type VerifiedBlock,
  verifyBlock,
} from './apply/verify-block.ts';
import { ChainHead, type ChainListener } from './chain-head.ts';
import { votesFor } from './features/feature-activation.ts';
import { UncommittedBlocks } from './import/uncommitted-blocks.ts';
import { requireReachable, type Unwinding } from './store/unwinding.ts';
import type { Tip } from './tip.ts';

export interface BlockchainOptions extends ApplierOptions {
  /** The number of blocks that can be rolled back. */
  readonly undoDepth: number;
}

export interface BlockchainPorts {
  readonly scheme: ChainScheme;
  readonly store: Store;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: ChainMetrics | undefined;
}

/** The duration of the two costly parts of a block. */
export interface ChainMetrics {
  readonly apply: Histogram;
  readonly commit: Histogram;
}

/** The operations that jobs under the mutex may use. */
export interface Inside {
  readonly slice: TimeSlice;
  tip(): Tip;
  /** Applies a block on top of `base`. Throws ApiError where it breaks a rule. */
  apply(
    base: KeyedView,
    parent: Tip,
    block: VerifiedBlock | ReplayedBlock,
    uncommitted: UncommittedBlocks,
  ): Promise<AppliedBlock>;
  /** The state at a lower height as consensus reads it. Throws ApiError where it is too old. */
  consensusAt(height: number): ConsensusView;
  /** The state at a lower height as a base for `apply`; changes nothing yet. */
  unwind(to: number): Promise<Unwinding>;
  /**
   * Writes consecutive blocks on the head, or on the state that `unwinding` leaves, in one write;
   * resolves when the head has moved. Throws OwnFailure where the store refuses the write, and the
   * head stays.
   */
  commit(blocks: readonly AppliedBlock[], unwinding?: Unwinding): Promise<void>;
}

const NONE_UNCOMMITTED = new UncommittedBlocks();

export class Blockchain {
  readonly view: KeyedView;
  readonly #options: BlockchainOptions;
  readonly #ports: BlockchainPorts;
  readonly #slice: TimeSlice;
  readonly #applier: BlockApplier;
  readonly #head: ChainHead;
  readonly #headMoves = new Mutex();
  readonly #atHead: () => ConsensusView;
  readonly #inside: Inside;

  constructor(options: BlockchainOptions, ports: BlockchainPorts) {
    const { scheme, clock, verifier, metrics } = ports;
    const slice = new TimeSlice(clock);
    const applier = new BlockApplier(options, {
      ...{ scheme, slice, verifier },
      duration: metrics?.apply,
    });
    const head = new ChainHead(options.undoDepth, { ...ports, slice, duration: metrics?.commit });
    this.view = head.view;
    this.#options = options;
    this.#ports = ports;
    this.#slice = slice;
    this.#applier = applier;
    this.#head = head;
    this.#atHead = headView(head);
    this.#inside = {
      slice,
      tip: () => head.tip,
      apply: (...block) => applier.apply(...block),
      consensusAt: (height) => head.consensusAt(height),
      unwind: (to) => head.unwind(to),
      commit: (blocks, unwinding) => head.commit(blocks, unwinding),
    };
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

  stateHash(height: number): Uint8Array | undefined {
    return this.#ports.store.get(stateHashes.id, u32Key.encode(height));
  }

  /** Writes the genesis block into an empty store. */
  found(genesis: Block): Promise<void> {
    const { scheme } = this.#ports;
    return this.#headMoves.run(async () => {
      assert(this.#head.isEmpty, 'only an empty store is founded');
      const txs = await decodeTransactions(genesis, scheme, this.#slice);
      await this.#head.found(await this.#applier.applyGenesis(this.view, genesis, txs));
    });
  }

  /**
   * Checks and appends a block; proofs that `known` has verdicts on are not checked again. Throws
   * ApiError.
   */
  append(block: Block, known: KnownVerdicts = NOTHING_KNOWN): Promise<void> {
    return this.#headMoves.run(() => this.#append(block, known));
  }

  /** Appends many blocks with few commits; see import-blocks.ts. */
  exclusive<T>(job: (inside: Inside) => Promise<T>): Promise<T> {
    return this.#headMoves.run(() => job(this.#inside));
  }

  /** Undefined also for an account with a script, which makes no blocks. */
  nextSlot(miner: MinerIdentity, now: number): Slot | undefined {
    if (this.view.get(scripts, miner.address) !== undefined) return undefined;
    return this.#options.consensus.nextSlot(this.tip(), miner, now, this.#atHead());
  }

  /** The accounts that may make blocks at a time after the head; see counted-miners.ts. */
  countedMiners(now: number): readonly Uint8Array[] {
    return countedMiners(this.view, this.#atHead(), now);
  }

  produceBlock(key: MinerKey, timestamp: number, pack: Packer): Promise<Block> {
    return this.#headMoves.run(() => this.#produceBlock(key, timestamp, pack));
  }

  /** Rolls back all blocks above `height`; returns their transactions. Throws ApiError. */
  rollback(height: number): Promise<readonly Tx[]> {
    return this.#headMoves.run(() => this.#rollBack(height));
  }

  listen(listener: ChainListener): () => void {
    return this.#head.listen(listener);
  }

  /** Resolves when no job waits or runs. */
  idle(): Promise<void> {
    return this.#headMoves.idle();
  }

  async #append(block: Block, known: KnownVerdicts): Promise<void> {
    const { scheme, verifier, clock, log } = this.#ports;
    if (isFromFuture(block.header.timestamp, clock.now())) {
      throw apiError('BlockFromFuture', block.header.timestamp);
    }
    const txs = await decodeTransactions(block, scheme, this.#slice);
    const verdicts = await verifyBlock(block, txs, verifier, known, this.view, this.#slice);
    const verified = { block, txs, verdicts };
    const head = this.#head;
    await head.commit([await this.#applier.apply(this.view, head.tip, verified, NONE_UNCOMMITTED)]);
    log.info('block.appended', { height: head.tip.height, txs: txs.length });
  }

  async #produceBlock(key: MinerKey, timestamp: number, pack: Packer): Promise<Block> {
    const { clock, log, metrics } = this.#ports;
    const { rules, consensus, support, transactionBytesMax } = this.#options;
    const view = this.view;
    const applier = this.#applier;
    const parent = this.tip();
    const votes = votesFor(view, rules, support);
    const state = this.#atHead();
    const plain = headerInTurn(parent, key, timestamp, votes, consensus, state);
    const draft = applier.draftOn(view, parent, plain, NONE_UNCOMMITTED, createScriptTime(clock));
    const header = completed(plain, parent, key, draft, consensus, state);
    const measured = metrics?.apply.start();
    await pack(draft, packLimits(draft, transactionBytesMax), header);
    measured?.();
    const block = await sealInTurn(header, draft, key, consensus, clock);
    await this.#head.commit([await applier.finish(draft, parent, block)]);
    const { height } = this.tip();
    log.info('block.forged', { height, txs: draft.txs.length, bytes: block.bytes.length });
    return block;
  }

  async #rollBack(height: number): Promise<readonly Tx[]> {
    const from = this.tip().height;
    requireReachable(height, from, this.#options.undoDepth);
    if (height === from) return [];
    const unwinding = await this.#head.unwind(height);
    await this.#head.commit([], unwinding);
    this.#ports.log.warn('chain.rolled-back', { from, to: height });
    return unwinding.txs;
  }
}

/** One view for each head, so that what consensus derives from it is derived once. */
function headView(head: ChainHead): () => ConsensusView {
  let tip: Tip | undefined;
  let view: ConsensusView | undefined;
  return () => {
    if (view === undefined || tip !== head.tip) {
      tip = head.tip;
      view = consensusView(head.view);
    }
    return view;
  };
}
