/**
 * Blocks that are applied but not committed: an import commits many at once, and the next block
 * must know of their headers and transaction ids, which stand in tables written by commits only.
 */
import { latin1 } from '../base/bytes.ts';
import type { Header } from '../block/header.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Uncommitted } from './consensus-view.ts';

export class Ahead {
  private readonly byHeight = new Map<number, Header>();
  private readonly ids = new Map<string, number>();

  get headers(): Uncommitted {
    return this.byHeight;
  }

  add(height: number, header: Header, txs: readonly Tx[]): void {
    this.byHeight.set(height, header);
    for (const tx of txs) this.ids.set(latin1(tx.id), height);
  }

  /** The block has been committed, and the tables know of it. */
  drop(height: number, txs: readonly Tx[]): void {
    this.byHeight.delete(height);
    for (const tx of txs) this.ids.delete(latin1(tx.id));
  }

  heightOf(id: Uint8Array): number | undefined {
    return this.ids.get(latin1(id));
  }
}
