/** An atomic transaction whose members take effect one by one while a miner makes it. */
import type { Overlay } from '../../ledger/ledger.ts';
import { applyPart, type Knowledge } from '../../tx/pipeline.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';

export interface GroupInWork {
  /** Throws ApiError, and then leaves the state as it was. */
  add(member: Tx): void;
  /** Takes the effects of all members back; the group itself is added as a whole. */
  end(): void;
}

export function groupOn(ledger: Overlay, block: BlockContext, known: Knowledge): GroupInWork {
  const mark = ledger.mark();
  return {
    add(member) {
      const before = ledger.mark();
      try {
        applyPart(member, ledger, block, known);
      } catch (cause) {
        ledger.revert(before);
        throw cause;
      }
    },
    end: () => ledger.revert(mark),
  };
}
