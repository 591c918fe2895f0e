/**
 * What a job may do with the chain while no other may: append a block, make one, replace some. Only
 * `Blockchain.exclusive` hands it out.
 *
 * Invariant: nothing that a job has applied is seen before its commit.
 */
import { assert } from '../base/assert.ts';
import { apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Histogram } from '../base/ports/metrics.ts';
import type { Store } from '../base/ports/store.ts';
import type { Verifier } from '../base/ports/verifier.ts';
import type { Block } from '../block/block.ts';
import type { UnsignedHeader } from '../block/header.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { TimeSlice } from '../concurrency/time-slice.ts';
import { type ConsensusView, isFromFuture } from '../consensus/consensus.ts';
import type { KeyedView } from '../ledger/committed-view.ts';
import type { Tx } from '../tx/transaction.ts';
import { type AppliedBlock, type ApplierOptions, BlockApplier } from './apply/block-applier.ts';
import type { BlockDraft } from './apply/block-draft.ts';
import {
  completed,
  headerInTurn,
  type MinerKey,
  type PackLimits,
  packLimits,
  sealInTurn,
} from './apply/produce-block.ts';
import { createScriptTime } from './apply/script-time.ts';
import {
  decodeTransactions,
  NOTHING_KNOWN,
  type ReplayedBlock,
  type VerifiedBlock,
  verifyBlock,
} from './apply/verify-block.ts';
import type { ChainHead } from './chain-head.ts';
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

export interface WriterDeps extends BlockchainPorts {
  readonly slice: TimeSlice;
  readonly head: ChainHead;
}

/** A block of this node that is being made, on the head. */
export interface OwnDraft {
  readonly draft: BlockDraft;
  readonly header: UnsignedHeader;
  /** What the block has room for. */
  readonly limits: PackLimits;
  readonly key: MinerKey;
  readonly parent: Tip;
  /** Ends the measurement of what fills the draft. */
  readonly filled: (() => void) | undefined;
}

const NONE_UNCOMMITTED = new UncommittedBlocks();

export class ChainWriter {
  readonly slice: TimeSlice;
  readonly #options: BlockchainOptions;
  readonly #deps: WriterDeps;
  readonly #applier: BlockApplier;
  readonly #head: ChainHead;

  constructor(options: BlockchainOptions, deps: WriterDeps) {
    this.slice = deps.slice;
    this.#options = options;
    this.#deps = deps;
    this.#head = deps.head;
    this.#applier = new BlockApplier(options, { ...deps, duration: deps.metrics?.apply });
  }

  tip(): Tip {
    return this.#head.tip;
  }

  async found(genesis: Block): Promise<void> {
    assert(this.#head.isEmpty, 'only an empty store is founded');
    const txs = await decodeTransactions(genesis, this.#deps.scheme, this.slice);
    await this.#head.found(await this.#applier.applyGenesis(this.#head.view, genesis, txs));
  }

  async append(block: Block): Promise<void> {
    const { scheme, verifier, clock, log } = this.#deps;
    if (isFromFuture(block.header.timestamp, clock.now())) {
      throw apiError('BlockFromFuture', block.header.timestamp);
    }
    const { view } = this.#head;
    const txs = await decodeTransactions(block, scheme, this.slice);
    const verdicts = await verifyBlock(block, txs, verifier, NOTHING_KNOWN, view, this.slice);
    const verified = { block, txs, verdicts };
    await this.commit([await this.apply(view, this.tip(), verified, NONE_UNCOMMITTED)]);
    log.info('block.appended', { height: this.tip().height, txs: txs.length });
  }

  /** Begins a block of this node. Throws ApiError where the key does not have the turn. */
  begin(key: MinerKey, timestamp: number): OwnDraft {
    const { clock, metrics } = this.#deps;
    const { rules, consensus, support, transactionBytesMax } = this.#options;
    const { view } = this.#head;
    const parent = this.tip();
    const votes = votesFor(view, rules, support);
    const state = this.#head.consensus();
    const plain = headerInTurn(parent, key, timestamp, votes, consensus, state);
    const time = createScriptTime(clock);
    const draft = this.#applier.draftOn(view, parent, plain, NONE_UNCOMMITTED, time);
    const header = completed(plain, parent, key, draft, consensus, state);
    const limits = packLimits(draft, transactionBytesMax);
    return { draft, header, limits, key, parent, filled: metrics?.apply.start() };
  }

  /** Signs the block and commits it. Throws ApiError where its turn was used or has ended. */
  async finish({ draft, header, key, parent, filled }: OwnDraft): Promise<Block> {
    filled?.();
    assert(parent === this.tip(), 'a draft is finished on the block on which it was begun');
    const block = await sealInTurn(header, draft, key, this.#options.consensus, this.#deps.clock);
    await this.commit([await this.#applier.finish(draft, parent, block)]);
    const { height } = this.tip();
    const size = { txs: draft.txs.length, bytes: block.bytes.length };
    this.#deps.log.info('block.forged', { height, ...size });
    return block;
  }

  /** Applies a block on top of `base`. Throws ApiError where it breaks a rule. */
  apply(
    base: KeyedView,
    parent: Tip,
    block: VerifiedBlock | ReplayedBlock,
    uncommitted: UncommittedBlocks,
  ): Promise<AppliedBlock> {
    return this.#applier.apply(base, parent, block, uncommitted);
  }

  /** The state at a lower height as consensus reads it. Rejects with ApiError where it is too old. */
  consensusAt(height: number): Promise<ConsensusView> {
    return this.#head.consensusAt(height);
  }

  /** The state at a lower height as a base for `apply`; changes nothing yet. */
  unwind(to: number): Promise<Unwinding> {
    return this.#head.unwind(to);
  }

  /** See `ChainHead.commit`. */
  commit(blocks: readonly AppliedBlock[], unwinding?: Unwinding): Promise<void> {
    return this.#head.commit(blocks, unwinding);
  }

  /** Rolls back all blocks above `height`; returns their transactions. Throws ApiError. */
  async rollBack(height: number): Promise<readonly Tx[]> {
    const from = this.tip().height;
    requireReachable(height, from, this.#options.undoDepth);
    if (height === from) return [];
    const unwinding = await this.unwind(height);
    await this.commit([], unwinding);
    this.#deps.log.warn('chain.rolled-back', { from, to: height });
    return unwinding.txs;
  }
}
