/**
 * The transactions of a block by id, as text (base/bytes.ts), which a Map finds fastest; members of
 * atomic ones are among them. Texts are made for the first question, because a filter leaves few of
 * them (uncommitted-blocks.ts).
 */
import { membersOf } from '../../tx/members.ts';
import type { Tx } from '../../tx/transaction.ts';

export interface Found {
  readonly tx: Tx;
  readonly height: number;
  /** The bytes that the store would read for it: for a member, those around it. */
  readonly size: number;
}

export class TxsById {
  private readonly txs: readonly Tx[];
  private readonly textOf: (id: Uint8Array) => string;
  private readonly byText = new Map<string, Tx>();
  /** The transactions that contain members, by the members; empty in most blocks. */
  private readonly around = new Map<Tx, Tx>();
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

  /** The same with the height of the block. */
  findAt(id: string, height: number): Found | undefined {
    const tx = this.find(id);
    return tx && { tx, height, size: (this.around.get(tx) ?? tx).bytes.length };
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
      for (const member of membersOf(tx)) {
        this.byText.set(this.textOf(member.id), member);
        this.around.set(member, tx);
      }
    }
  }
}
