/** An atomic transaction whose members take effect one by one while a miner makes it. */
import type { Overlay } from '../../ledger/ledger.ts';
import { applyPart, type Knowledge } from '../../tx/pipeline.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';

export interface GroupInWork {
  /** Throws ApiError, and then leaves the state as it was. */
  add(member: Tx): void;
  /** Throws ApiError where a member is refused also without results; changes nothing. */
  check(executable: Tx): void;
  /** Takes the effects of all members back; the group itself is added as a whole. */
  end(): void;
}

/** `withoutResult`: the block for what is tried without results. */
export function groupOn(
  ledger: Overlay,
  block: BlockContext,
  withoutResult: BlockContext,
  known: Knowledge,
): GroupInWork {
  const mark = ledger.mark();
  function tried(member: Tx, context: BlockContext, isKept: boolean): void {
    const before = ledger.mark();
    let isGood = false;
    try {
      applyPart(member, ledger, context, known);
      isGood = true;
    } finally {
      if (!isGood || !isKept) ledger.revert(before);
    }
  }
  return {
    add: (member) => tried(member, block, true),
    check: (executable) => tried(executable, withoutResult, false),
    end: () => ledger.revert(mark),
  };
}
