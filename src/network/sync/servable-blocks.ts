/**
 * Blocks and their parts for peers: those of the chain, and those that this node holds although
 * they are not in the chain, or not yet.
 *
 * Invariants: an answer is bounded in blocks and bytes; only what was asked for is read, in pieces
 * between which other work runs.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { type Block, blockId } from '../../block/block.ts';
import {
  blockInSlices,
  headerRowAt,
  heightOf,
  transactionBytes,
} from '../../chain/store/stored-blocks.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { blockLimits, type Ids } from '../messages/block-messages.ts';

/** Blocks of the last rounds that peers may still ask parts of. */
const HELD_MAX = 4;

export class ServableBlocks {
  private readonly view: KeyedView;
  private readonly slice: TimeSlice;
  private readonly byId = new Map<string, Block>();

  constructor(view: KeyedView, clock: Clock) {
    this.view = view;
    this.slice = new TimeSlice(clock);
  }

  hold(block: Block): void {
    this.byId.set(latin1(blockId(block)), block);
    if (this.byId.size > HELD_MAX) this.byId.delete(this.byId.keys().next().value ?? '');
  }

  /** The ids after the first of these that is in the chain. */
  idsAfter(ids: readonly Uint8Array[]): Ids | undefined {
    const { view } = this;
    const common = ids.find((id) => heightOf(view, id) !== undefined);
    if (common === undefined) return undefined;
    const next: Uint8Array[] = [];
    let height = heightOf(view, common)!;
    while (next.length < blockLimits.idsMax) {
      const row = headerRowAt(view, ++height);
      if (row === undefined) break;
      next.push(row.header.signature);
    }
    return { common, next };
  }

  /** These transactions of a block. Undefined where one or all of them are unknown. */
  async partsOf(id: Uint8Array, indexes: readonly number[]): Promise<Uint8Array[] | undefined> {
    const { view, slice } = this;
    const transactions = this.held(id)?.transactions;
    const height = heightOf(view, id);
    const parts: Uint8Array[] = [];
    for (const index of indexes) {
      const bytes =
        transactions === undefined
          ? height && transactionBytes(view, { height, index })
          : transactions[index];
      if (!bytes) return undefined;
      parts.push(bytes);
      if (slice.isOver()) await slice.yield();
    }
    return transactions !== undefined || this.isAt(id, height) ? parts : undefined;
  }

  /** As many of the blocks as fit an answer, undefined in the place of an unknown one. */
  async blocksOf(ids: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const found: (Uint8Array | undefined)[] = [];
    let size = 0;
    for (const id of ids) {
      if (size >= blockLimits.answerBytes) break;
      const bytes = await this.bytesOf(id);
      size += bytes?.length ?? 0;
      found.push(bytes);
      if (this.slice.isOver()) await this.slice.yield();
    }
    return found;
  }

  private held(id: Uint8Array): Block | undefined {
    return this.byId.get(latin1(id));
  }

  private async bytesOf(id: Uint8Array): Promise<Uint8Array | undefined> {
    const held = this.held(id);
    if (held !== undefined) return held.bytes;
    const height = heightOf(this.view, id);
    const block =
      height === undefined ? undefined : await blockInSlices(this.view, height, this.slice);
    return block !== undefined && this.isAt(id, height) && equal(blockId(block), id)
      ? block.bytes
      : undefined;
  }

  /** Between two reads the chain may have switched to another branch. */
  private isAt(id: Uint8Array, height: number | undefined): boolean {
    return height !== undefined && heightOf(this.view, id) === height;
  }
}
