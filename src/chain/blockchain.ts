/**
 * The chain: one head, moved only by a durable commit (blocks.md#checks-of-a-received-block,
 * consensus.md#choice-between-forks).
 *
 * Invariants: every job that changes the state runs in one lane, one at a time; a job works on
 * private overlays, so readers see the old head or the new one and nothing between; listeners are
 * called after the commit.
 */
import { AssertionError, assert } from '../base/assert.ts';
import { equal } from '../base/bytes.ts';
import { ApiError, apiError } from '../base/errors.ts';
import { tellAll } from '../base/listeners.ts';
import type { Clock, Histogram, Log, Store, Verifier } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { type Block, blockId, checkLimits, limitsOf } from '../block/block.ts';
import type { Header } from '../block/header.ts';
import type { HeaderRow } from '../block/header-row.ts';
import type { ChainScheme } from '../codec/codec.ts';
import {
  type Consensus,
  type ConsensusView,
  type Forger,
  isFromFuture,
  type Slot,
} from '../consensus/consensus.ts';
import { createCommitter } from '../ledger/commit.ts';
import { createHead, type KeyedView } from '../ledger/head.ts';
import { u32Key } from '../ledger/key-codecs.ts';
import type { KeyedOverlay } from '../ledger/overlay.ts';
import type { Step } from '../ledger/step-encoder.ts';
import { scripts, stateHashes, tables, undo } from '../ledger/tables.ts';
import { allGood } from '../tx/proof-verdicts.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import type { Tx } from '../tx/transaction.ts';
import { Ahead } from './ahead.ts';
import { type BlockDraft, openDraft } from './block-draft.ts';
import { indexWrites } from './block-index.ts';
import { CONSENSUS_TABLES, consensusView } from './consensus-view.ts';
import {
  type FeatureSupport,
  requireKnownFeatures,
  type VotingSettings,
  votesFor,
} from './feature-activation.ts';
import { type Generator, headerInTurn, type Packer, packLimits, sealInTurn } from './forge.ts';
import { Lane } from './lane.ts';
import { foundingWrites } from './origin.ts';
import { newestHeader } from './stored-blocks.ts';
import { droppedBy, requireReachable, type Unwinding, unwindTo } from './unwinding.ts';
import {
  decodeTransactions,
  type KnownVerdicts,
  NOTHING_KNOWN,
  type VerifiedBlock,
  verifyBlock,
} from './verify-block.ts';

export interface BlockchainOptions {
  readonly rules: ChainRules & VotingSettings;
  readonly consensus: Consensus;
  /** The features for which this node votes in its blocks. */
  readonly support: FeatureSupport;
  /** The most bytes of all transactions of a block (H-4). */
  readonly transactionBytesMax: number;
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

/** The newest block. */
export interface Tip {
  readonly height: number;
  readonly id: Uint8Array;
  readonly header: Header;
  /** Score of the whole chain. */
  readonly score: bigint;
}

export interface AppliedBlock {
  readonly height: number;
  readonly row: HeaderRow;
  readonly txs: readonly Tx[];
  readonly overlay: KeyedOverlay;
}

export interface BlockEvent {
  readonly tip: Tip;
  readonly block: AppliedBlock;
}

export interface ChainListener {
  /**
   * Called before anything changes, with the transactions that `rolledBack` will receive; the chain
   * waits until they are stored.
   */
  rollingBack?(txs: readonly Tx[]): Promise<void>;
  block?(event: BlockEvent): void;
  /** The transactions of removed blocks that the new chain does not contain, oldest first. */
  rolledBack?(tip: Tip, txs: readonly Tx[]): void;
}

export interface Blockchain {
  readonly view: KeyedView;
  /** True before `found`. */
  isEmpty(): boolean;
  tip(): Tip;
  stateHash(height: number): Uint8Array | undefined;
  /** Writes the genesis block into an empty store. */
  found(genesis: Block): Promise<void>;
  /**
   * Checks and appends a block; proofs that `known` has verdicts on are not checked again. Throws
   * ApiError.
   */
  append(block: Block, known?: KnownVerdicts): Promise<void>;
  /** Appends many blocks with few commits; see import-blocks.ts. */
  exclusive<T>(job: (inside: Inside) => Promise<T>): Promise<T>;
  nextSlot(forger: Forger, now: number): Slot | undefined;
  forge(generator: Generator, timestamp: number, pack: Packer): Promise<Block>;
  /** Rolls back all blocks above `height`; returns their transactions. Throws ApiError. */
  rollback(height: number): Promise<readonly Tx[]>;
  listen(listener: ChainListener): () => void;
  /** Resolves when the lane is empty. */
  idle(): Promise<void>;
}

/** The operations that jobs in the lane may use. */
export interface Inside {
  tip(): Tip;
  /** Applies a block on top of `base`. Throws ApiError where it breaks a rule. */
  apply(base: KeyedView, parent: Tip, verified: VerifiedBlock, ahead: Ahead): Promise<AppliedBlock>;
  /** The state at a lower height as consensus reads it. Throws ApiError where it is too old. */
  consensusAt(height: number): ConsensusView;
  /** The state at a lower height as a base for `apply`; changes nothing yet. */
  unwind(to: number): Promise<Unwinding>;
  /**
   * Writes consecutive blocks on the head, or on the state that `unwinding` leaves, in one write;
   * resolves when the head has moved. Throws ApiError where the store refuses the write, and the
   * head stays.
   */
  commit(blocks: readonly AppliedBlock[], unwinding?: Unwinding): Promise<void>;
}

export function createBlockchain(options: BlockchainOptions, ports: BlockchainPorts): Blockchain {
  const { rules, consensus } = options;
  const { scheme, store, clock, log, verifier, metrics } = ports;
  const head = createHead(store, scheme);
  const turns = createTurns(clock);
  const committer = createCommitter({
    store,
    head,
    tables,
    undo: undo.id,
    stateHashes: stateHashes.id,
    undoDepth: options.undoDepth,
    turns,
  });
  const lane = new Lane();
  const listeners = new Set<ChainListener>();
  const NOTHING_AHEAD = new Ahead();
  let newest: Tip | undefined = readTip();

  function readTip(): Tip | undefined {
    const row = newestHeader(head);
    return row && tipOf(row.height, row);
  }

  function tip(): Tip {
    assert(newest !== undefined, 'the chain has its genesis block');
    return newest;
  }

  function draftOn(
    base: KeyedView,
    parent: Tip,
    header: { timestamp: number; generator: Uint8Array },
    ahead: Ahead,
  ): BlockDraft {
    const draft = openDraft({
      base,
      parent,
      timestamp: header.timestamp,
      generator: scheme.addressOf(header.generator),
      rules,
      consensus,
      ahead,
      turns,
    });
    requireKnownFeatures(draft.context.features, options.support);
    return draft;
  }

  async function apply(
    base: KeyedView,
    parent: Tip,
    { block, txs, verdicts }: VerifiedBlock,
    ahead: Ahead,
  ): Promise<AppliedBlock> {
    const { header } = block;
    if (!equal(header.reference, parent.id)) {
      throw apiError('Invalid', 'Broadcast block is not a child of the last block');
    }
    const generator = scheme.addressOf(header.generator);
    const draft = draftOn(base, parent, header, ahead);
    const isActive = (id: number): boolean => draft.context.features.has(id);
    checkLimits(block, limitsOf(options.transactionBytesMax, isActive));
    if (base.get(scripts, generator) !== undefined) {
      throw apiError(
        'Invalid',
        `Account '${scheme.addressToText(generator)}' is scripted are therefore not allowed to forge blocks`,
      );
    }
    consensus.verify(header, parent, consensusView(base, ahead.headers));
    const measured = metrics?.apply.start();
    assert(verdicts.length === txs.length, 'each transaction has its verdicts');
    for (let i = 0; i < txs.length; i++) {
      draft.add(txs[i]!, verdicts[i]!);
      if (turns.due()) await turns.take();
    }
    measured?.();
    return applied(draft, parent, block, await draft.finish(header));
  }

  const applied = (
    draft: BlockDraft,
    parent: Tip | undefined,
    block: Block,
    fee: bigint,
  ): AppliedBlock => ({
    height: draft.context.height,
    overlay: draft.overlay,
    txs: draft.txs,
    row: {
      header: block.header,
      blockSize: block.bytes.length,
      transactionCount: draft.txs.length,
      fee,
      score: (parent?.score ?? 0n) + consensus.score(block.header.consensus),
    },
  });

  function* indexOf(blocks: readonly AppliedBlock[]) {
    for (const block of blocks) yield* indexWrites(block, block.overlay, scheme);
  }

  async function commit(blocks: readonly AppliedBlock[], unwinding?: Unwinding): Promise<void> {
    if (blocks.length === 0 && unwinding === undefined) return;
    const dropped = unwinding === undefined ? [] : droppedBy(unwinding, blocks);
    if (dropped.length > 0) {
      await Promise.all(Array.from(listeners, (listener) => listener.rollingBack?.(dropped)));
    }
    const extra = indexOf(blocks);
    const step =
      unwinding === undefined ? { blocks, extra } : { unwound: unwinding.unwound, blocks, extra };
    await write(step, () => {
      const last = blocks.at(-1);
      newest = last === undefined ? readTip() : tipOf(last.height, last.row);
      if (unwinding !== undefined) {
        tellAll(listeners, log, (listener) => listener.rolledBack?.(tip(), dropped));
      }
      for (const block of blocks) {
        const at = tipOf(block.height, block.row);
        tellAll(listeners, log, (listener) => listener.block?.({ tip: at, block }));
      }
    });
  }

  /**
   * `landed` runs in the step that moves the head. A failure of the store is not the fault of the
   * input.
   */
  async function write(step: Step, landed: () => void): Promise<void> {
    const measured = metrics?.commit.start();
    try {
      await committer.commit(step, landed);
    } catch (cause) {
      if (cause instanceof AssertionError || cause instanceof ApiError) throw cause;
      log.error('chain.write-failed', { height: newest?.height ?? 0, why: String(cause) });
      throw apiError('StatusCheckFailed', 'the chain cannot be written to disk');
    }
    measured?.();
  }

  const consensusAt = (height: number): ConsensusView =>
    consensusView(committer.unwind(tip().height, height, CONSENSUS_TABLES).overlay);

  const unwind = (to: number): Promise<Unwinding> =>
    unwindTo(to, tip().height, head, committer, clock);

  async function appendNow(block: Block, known: KnownVerdicts): Promise<void> {
    if (isFromFuture(block.header.timestamp, clock.now())) {
      throw apiError('BlockFromFuture', block.header.timestamp);
    }
    const txs = await decodeTransactions(block, scheme, turns);
    const verdicts = await verifyBlock(block, txs, verifier, known);
    await commit([await apply(head, tip(), { block, txs, verdicts }, NOTHING_AHEAD)]);
    log.info('block.appended', { height: tip().height, txs: txs.length });
  }

  async function foundNow(genesis: Block): Promise<void> {
    assert(newest === undefined, 'only an empty store is founded');
    const { header } = genesis;
    const draft = openDraft({
      base: head,
      parent: undefined,
      timestamp: header.timestamp,
      generator: scheme.addressOf(header.generator),
      rules,
      consensus,
    });
    for (const tx of await decodeTransactions(genesis, scheme)) draft.add(tx, allGood(tx));
    const block = applied(draft, undefined, genesis, await draft.finish(header));
    const extra = [...foundingWrites(blockId(genesis), scheme), ...indexOf([block])];
    await write({ blocks: [block], extra }, () => {
      newest = tipOf(1, block.row);
    });
  }

  async function forgeNow(generator: Generator, timestamp: number, pack: Packer): Promise<Block> {
    const parent = tip();
    const votes = votesFor(head, rules, options.support);
    const view = consensusView(head);
    const header = headerInTurn(parent, generator, timestamp, votes, consensus, view);
    const draft = draftOn(head, parent, header, NOTHING_AHEAD);
    const measured = metrics?.apply.start();
    await pack(draft, packLimits(draft, options.transactionBytesMax));
    measured?.();
    const block = await sealInTurn(header, draft, generator, consensus);
    await commit([applied(draft, parent, block, await draft.finish(block.header))]);
    const { height } = tip();
    log.info('block.forged', { height, txs: draft.txs.length, bytes: block.bytes.length });
    return block;
  }

  async function rollbackNow(height: number): Promise<readonly Tx[]> {
    const from = tip().height;
    requireReachable(height, from, options.undoDepth);
    if (height === from) return [];
    const unwinding = await unwind(height);
    await commit([], unwinding);
    log.warn('chain.rolled-back', { from, to: height });
    return unwinding.txs;
  }

  return {
    view: head,
    isEmpty: () => newest === undefined,
    tip,
    stateHash: (height) => store.get(stateHashes.id, u32Key.encode(height)),
    found: (genesis) => lane.run(() => foundNow(genesis)),
    append: (block, known = NOTHING_KNOWN) => lane.run(() => appendNow(block, known)),
    exclusive: (job) => lane.run(() => job({ tip, apply, consensusAt, unwind, commit })),
    nextSlot: (forger, now) => consensus.nextSlot(tip(), forger, now, consensusView(head)),
    forge: (generator, timestamp, pack) => lane.run(() => forgeNow(generator, timestamp, pack)),
    rollback: (height) => lane.run(() => rollbackNow(height)),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    idle: () => lane.idle(),
  };
}

export function tipOf(height: number, row: HeaderRow): Tip {
  return { height, id: row.header.signature, header: row.header, score: row.score };
}
