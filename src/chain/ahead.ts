/**
 * Blocks that are applied but not committed. An import commits many blocks at once, and the next
 * block needs their headers and transaction ids, which commits alone write to tables.
 */
import { latin1 } from '../base/bytes.ts';
import type { Header } from '../block/header.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Uncommitted } from './consensus-view.ts';

interface Found {
  readonly tx: Tx;
  readonly height: number;
}

export class Ahead {
  private readonly byHeight = new Map<number, Header>();
  private readonly ids = new Map<string, Found>();

  get headers(): Uncommitted {
    return this.byHeight;
  }

  add(height: number, header: Header, txs: readonly Tx[]): void {
    this.byHeight.set(height, header);
    for (const tx of txs) this.ids.set(latin1(tx.id), { tx, height });
  }

  /** The block has been committed, so the tables contain it. */
  drop(height: number, txs: readonly Tx[]): void {
    this.byHeight.delete(height);
    for (const tx of txs) this.ids.delete(latin1(tx.id));
  }

  heightOf(id: Uint8Array): number | undefined {
    return this.ids.get(latin1(id))?.height;
  }

  find(id: Uint8Array): Found | undefined {
    return this.ids.get(latin1(id));
  }
}
