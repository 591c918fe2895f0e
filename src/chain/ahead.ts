/**
 * Blocks that are applied but not committed. An import commits many blocks at once, and the next
 * block needs their headers and transaction ids, which commits alone write to tables.
 */
import type { Header } from '../block/header.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Uncommitted } from './consensus-view.ts';

/** The transactions of a block by id; each id is text (base/bytes.ts), which a Map finds fastest. */
export type TxsById = ReadonlyMap<string, Tx>;

interface Found {
  readonly tx: Tx;
  readonly height: number;
}

export class Ahead {
  private readonly byHeight = new Map<number, Header>();
  private readonly ids = new Map<number, TxsById>();
  /** One Map for all blocks, since a lookup must not depend on their number. */
  private readonly heights = new Map<string, number>();

  get headers(): Uncommitted {
    return this.byHeight;
  }

  add(height: number, header: Header, ids: TxsById): void {
    this.byHeight.set(height, header);
    this.ids.set(height, ids);
    for (const id of ids.keys()) this.heights.set(id, height);
  }

  /** The block has been committed, so the tables contain it. */
  drop(height: number, ids: TxsById): void {
    this.byHeight.delete(height);
    this.ids.delete(height);
    for (const id of ids.keys()) this.heights.delete(id);
  }

  heightOf(id: string): number | undefined {
    return this.heights.get(id);
  }

  find(id: string): Found | undefined {
    const height = this.heights.get(id);
    const tx = height === undefined ? undefined : this.ids.get(height)?.get(id);
    return tx === undefined || height === undefined ? undefined : { tx, height };
  }
}
