/**
 * The head of the chain. One durable commit is the only way to move it.
 *
 * Invariants: readers see the old head or the new one and nothing between; listeners are called
 * after the commit, in the order of the blocks.
 */
import { assert, isOurs } from '../base/assert.ts';
import { apiError } from '../base/errors.ts';
import { tellAll } from '../base/listeners.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Histogram } from '../base/ports/metrics.ts';
import type { Store } from '../base/ports/store.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { TimeSlice } from '../concurrency/time-slice.ts';
import type { ConsensusView } from '../consensus/consensus.ts';
import { type Committer, createCommitter } from '../ledger/commit/commit.ts';
import type { Step } from '../ledger/commit/step-encoder.ts';
import { createCommittedView, type KeyedView } from '../ledger/committed-view.ts';
import { END_OF_TABLE, START_OF_TABLE, u32Key } from '../ledger/key-codecs.ts';
import { stateHashes, tables, undo } from '../ledger/tables.ts';
import type { Tx } from '../tx/transaction.ts';
import type { AppliedBlock } from './apply/block-applier.ts';
import { CONSENSUS_TABLES, consensusView } from './apply/consensus-view.ts';
import { requireAboveFloor } from './finality/final-floor.ts';
import { indexColumns, indexRows } from './store/block-index.ts';
import { foundingWrites } from './store/network-identity.ts';
import { tipHeader } from './store/stored-blocks.ts';
import { droppedBy, type Unwinding, unwindTo } from './store/unwinding.ts';
import { type Tip, tipOf } from './tip.ts';

export interface ChainHeadPorts {
  readonly scheme: ChainScheme;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly slice: TimeSlice;
  /** The duration of a commit. */
  readonly duration: Histogram | undefined;
}

export interface BlockEvent {
  readonly tip: Tip;
  readonly block: AppliedBlock;
}

export interface ChainListener {
  /**
   * Called before anything changes, with the transactions that `rolledBack` will receive, and the
   * height of the last block that stays; the chain waits until they are stored. Where it rejects,
   * nothing changes, and the commit rejects so.
   */
  rollingBack?(txs: readonly Tx[], above: number): Promise<void>;
  block?(event: BlockEvent): void;
  /** The transactions of removed blocks that the new chain does not contain, oldest first. */
  rolledBack?(tip: Tip, txs: readonly Tx[]): void;
}

export class ChainHead {
  readonly view: KeyedView;
  private readonly ports: ChainHeadPorts;
  private readonly committer: Committer;
  private readonly listeners = new Set<ChainListener>();
  private current: Tip | undefined;
  private readonly undoDepth: number;
  private reachable: { readonly tip: Tip; readonly height: number } | undefined;
  private consensusOf: { readonly tip: Tip; readonly view: ConsensusView } | undefined;
  /** The disk has refused the last write. */
  isFailing = false;

  constructor(undoDepth: number, ports: ChainHeadPorts) {
    this.undoDepth = undoDepth;
    const { store, scheme, slice } = ports;
    const head = createCommittedView(store, scheme);
    this.view = head;
    this.ports = ports;
    this.committer = createCommitter({
      store,
      head,
      tables,
      undo: undo.id,
      stateHashes: stateHashes.id,
      undoDepth,
      slice,
    });
    this.current = this.readTip();
  }

  /** True before `found`. */
  get isEmpty(): boolean {
    return this.current === undefined;
  }

  get tip(): Tip {
    assert(this.current !== undefined, 'the chain has its genesis block');
    return this.current;
  }

  /** Writes the genesis block into an empty store. */
  async found(block: AppliedBlock): Promise<void> {
    const id = block.row.header.signature;
    const extra = [...foundingWrites(id, this.ports.scheme), ...this.indexOf([block])];
    await this.write({ blocks: [block], extra, columns: indexColumns([block]) }, () => {
      this.current = tipOf(1, block.row);
    });
  }

  /**
   * Writes consecutive blocks on the head, or on the state that `unwinding` leaves, in one write;
   * resolves when the head has moved. Throws OwnFailure where the store refuses the write, and the
   * head stays.
   */
  async commit(blocks: readonly AppliedBlock[], unwinding?: Unwinding): Promise<void> {
    if (blocks.length === 0 && unwinding === undefined) return;
    const dropped = unwinding === undefined ? [] : droppedBy(unwinding, blocks);
    if (unwinding !== undefined) {
      await this.keep(dropped, unwinding.unwound.to);
      // A block may have become final since the branch was chosen.
      requireAboveFloor(this.view, unwinding.unwound.to);
    }
    const unwound = unwinding?.unwound;
    const index = { extra: this.indexOf(blocks), columns: indexColumns(blocks) };
    await this.write({ unwound, blocks, ...index }, () => {
      const last = blocks.at(-1);
      this.current = last === undefined ? this.readTip() : tipOf(last.height, last.row);
      if (unwinding !== undefined) this.tell((one) => one.rolledBack?.(this.tip, dropped));
      for (const block of blocks) {
        const tip = tipOf(block.height, block.row);
        this.tell((one) => one.block?.({ tip, block }));
      }
    });
  }

  /** One view for each head, so that what consensus derives from it is derived once. */
  consensus(): ConsensusView {
    const { tip } = this;
    if (this.consensusOf?.tip !== tip) this.consensusOf = { tip, view: consensusView(this.view) };
    return this.consensusOf.view;
  }

  /** The state at a lower height as consensus reads it. Rejects with ApiError where it is too old. */
  async consensusAt(height: number): Promise<ConsensusView> {
    const unwound = await this.committer.unwind(this.tip.height, height, CONSENSUS_TABLES);
    return consensusView(unwound.overlay);
  }

  /** The lowest height that undo records lead back to. Read once for each head, since a record may be large. */
  lowestReachable(): number {
    const { tip } = this;
    if (this.reachable?.tip !== tip) this.reachable = { tip, height: this.readReachable(tip) };
    return this.reachable.height;
  }

  private readReachable({ height }: Tip): number {
    const [lowest] = this.ports.store.range(undo.id, START_OF_TABLE, END_OF_TABLE, 1);
    if (lowest === undefined) return height;
    // Where the setting was lowered, older records may be left below a gap.
    return Math.max(u32Key.decode(lowest[0]) - 1, height - this.undoDepth);
  }

  /** The state at a lower height as a base for blocks; changes nothing yet. */
  async unwind(to: number): Promise<Unwinding> {
    requireAboveFloor(this.view, to);
    return unwindTo(to, this.tip.height, this.view, this.committer, this.ports.clock);
  }

  listen(listener: ChainListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private readTip(): Tip | undefined {
    const row = tipHeader(this.view);
    return row && tipOf(row.height, row);
  }

  private *indexOf(blocks: readonly AppliedBlock[]) {
    for (const block of blocks) yield* indexRows(block, block.overlay, this.ports.scheme);
  }

  /** Rejects where a listener cannot store them: then they stay in the chain. */
  private async keep(dropped: readonly Tx[], above: number): Promise<void> {
    // None of them goes on when this has failed: the head may move then.
    const kept = await Promise.allSettled(
      Array.from(this.listeners, async (one) => one.rollingBack?.(dropped, above)),
    );
    const failed = kept.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      const cause: unknown = failed.reason;
      this.ports.log.error('chain.not-rolled-back', { txs: dropped.length, why: String(cause) });
      throw cause;
    }
  }

  private tell(what: (listener: ChainListener) => void): void {
    tellAll(this.listeners, this.ports.log, what);
  }

  /**
   * `landed` runs in the step that moves the head. Whatever fails is not the fault of the input:
   * no rule runs here. Logged once, however often the same blocks come again.
   */
  private async write(step: Step, landed: () => void): Promise<void> {
    const { log, duration } = this.ports;
    const measured = duration?.start();
    try {
      await this.committer.commit(step, landed);
    } catch (cause) {
      if (isOurs(cause)) throw cause;
      const fields = { height: this.current?.height ?? 0, why: String(cause) };
      if (!this.isFailing) log.error('chain.write-failed', fields);
      this.isFailing = true;
      throw apiError('StatusCheckFailed', 'the chain cannot be written to disk');
    }
    if (this.isFailing) log.info('chain.write-works', { height: this.current?.height ?? 0 });
    this.isFailing = false;
    measured?.();
  }
}
