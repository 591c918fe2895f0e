/**
 * Blocks that are applied but not committed. An import commits many blocks at once, and the next
 * block needs their headers and transaction ids, which commits alone write to tables.
 */
import type { Header } from '../../block/header.ts';
import { membersOf } from '../../tx/members.ts';
import type { Tx } from '../../tx/transaction.ts';
import type { Uncommitted } from '../apply/consensus-view.ts';
import type { Found, TxsById } from '../apply/txs-by-id.ts';
import type { IdFilter } from './id-filter.ts';

export class UncommittedBlocks {
  private readonly byHeight = new Map<number, Header>();
  private readonly ids = new Map<number, TxsById>();
  /**
   * One Map for all blocks, since a lookup must not depend on their number. It is made for the first
   * lookup, because a filter leaves few of them.
   */
  private heights: Map<string, number> | undefined;
  private readonly filter: IdFilter | undefined;

  /** `filter` holds all ids of the chain below these blocks. */
  constructor(filter?: IdFilter) {
    this.filter = filter;
  }

  get headers(): Uncommitted & ReadonlyMap<number, Header> {
    return this.byHeight;
  }

  add(height: number, header: Header, ids: TxsById): void {
    this.byHeight.set(height, header);
    this.ids.set(height, ids);
    if (this.heights !== undefined) enter(this.heights, ids, height);
  }

  /** True where no block has this id, neither one of these nor one below them. */
  isNew(id: Uint8Array): boolean {
    return this.filter?.mayHave(id) === false;
  }

  /** A block in the making takes this transaction. */
  note(tx: Tx): void {
    if (this.filter === undefined) return;
    this.filter.add(tx.id);
    for (const { id } of membersOf(tx)) this.filter.add(id);
  }

  /** The block has been committed, so the tables contain it. */
  drop(height: number, ids: TxsById): void {
    this.byHeight.delete(height);
    this.ids.delete(height);
    if (this.heights === undefined) return;
    for (const id of ids.ids()) this.heights.delete(id);
  }

  heightOf(id: string): number | undefined {
    this.heights ??= heightsOf(this.ids);
    return this.heights.get(id);
  }

  find(id: string): Found | undefined {
    const height = this.heightOf(id);
    return height === undefined ? undefined : this.ids.get(height)?.findAt(id, height);
  }
}

function heightsOf(blocks: Iterable<readonly [number, TxsById]>): Map<string, number> {
  const heights = new Map<string, number>();
  for (const [height, ids] of blocks) enter(heights, ids, height);
  return heights;
}

function enter(heights: Map<string, number>, ids: TxsById, height: number): void {
  for (const id of ids.ids()) heights.set(id, height);
}
