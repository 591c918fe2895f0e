/**
 * The transactions of a block by id, as text (base/bytes.ts), which a Map finds fastest. Texts are
 * made for the first question, because a filter leaves few of them (uncommitted-blocks.ts).
 */
import type { Tx } from '../../tx/transaction.ts';

export class TxsById {
  private readonly txs: readonly Tx[];
  private readonly textOf: (id: Uint8Array) => string;
  private readonly byText = new Map<string, Tx>();
  private entered = 0;

  /** `txs` may grow. */
  constructor(txs: readonly Tx[], textOf: (id: Uint8Array) => string) {
    this.txs = txs;
    this.textOf = textOf;
  }

  find(id: string): Tx | undefined {
    this.update();
    return this.byText.get(id);
  }

  ids(): Iterable<string> {
    this.update();
    return this.byText.keys();
  }

  /** Enters the transactions that are new in the list. */
  update(): void {
    for (; this.entered < this.txs.length; this.entered++) {
      const tx = this.txs[this.entered]!;
      this.byText.set(this.textOf(tx.id), tx);
    }
  }
}
