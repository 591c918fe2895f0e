/**
 * Tries transactions on top of the head, one by one, without changing anything. The pool asks this
 * before it accepts one. The block time of the trial is now.
 */
import { equal } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import type { ScriptTime } from '../chain/script-time.ts';
import { confirmedHeight, foundTransaction } from '../chain/stored-blocks.ts';
import { accountOf, available } from '../ledger/accounts.ts';
import { assetBalance } from '../ledger/assets.ts';
import { executedBy } from '../ledger/contracts.ts';
import { createOverlay, type KeyedOverlay } from '../ledger/overlay.ts';
import { scripts } from '../ledger/tables.ts';
import { applyTransaction, applyUnjudged, blockContext, type Knowledge } from '../tx/pipeline.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import { planChecks } from '../tx/scripts/plan-checks.ts';
import type { BlockContext, Tx } from '../tx/transaction.ts';
import type { PoolChain } from './pool-chain.ts';
import { type Spending, spendingOf } from './spending.ts';

export function createTrial(
  blockchain: Blockchain,
  rules: ChainRules,
  clock: Clock,
): PoolChain & { context(): BlockContext } {
  const { view } = blockchain;
  let head: Uint8Array = new Uint8Array(0);
  let overlay: KeyedOverlay = createOverlay(view);
  let context: BlockContext | undefined;

  /** The context of the next block; its features are read once for each head. */
  function present(): BlockContext {
    const tip = blockchain.tip();
    // Compared by id and not by height: a reorganisation may put another block at the same height.
    if (context === undefined || !equal(tip.id, head)) {
      head = tip.id;
      overlay = createOverlay(view);
      context = blockContext(view, rules, {
        height: tip.height + 1,
        timestamp: clock.now(),
        parentTimestamp: tip.header.timestamp,
      });
    }
    const now = clock.now();
    if (context.timestamp !== now) context = { ...context, timestamp: now };
    return context;
  }

  const known: Knowledge = {
    heightOf: (id) => confirmedHeight(view, id),
    find: (id) => foundTransaction(view, id),
  };

  const knownWith = (runScript: ScriptTime['run'] | undefined): Knowledge =>
    runScript === undefined ? known : { ...known, runScript };

  /** What the transaction takes from its sender, after it was applied on top of `mark`. */
  function undo(tx: Tx, mark: number): Spending {
    const spending = spendingOf(tx.sender, overlay.since(mark));
    overlay.revert(mark);
    return spending;
  }

  return {
    context: present,
    tryApply(tx: Tx, verdicts: ProofVerdicts, runScript?: ScriptTime['run']) {
      const block = present();
      const mark = overlay.mark();
      applyTransaction(tx, verdicts, overlay, block, knownWith(runScript));
      return undo(tx, mark);
    },
    tryUnjudged(tx: Tx, runScript?: ScriptTime['run']) {
      const block = present();
      const mark = overlay.mark();
      applyUnjudged(tx, overlay, block, knownWith(runScript));
      return undo(tx, mark);
    },
    together() {
      const block = present();
      const at = head;
      const own = createOverlay(view);
      return {
        isCurrent: () => equal(blockchain.tip().id, at),
        tryApply(tx: Tx, verdicts: ProofVerdicts) {
          const mark = own.mark();
          applyTransaction(tx, verdicts, own, block, known);
          return spendingOf(tx.sender, own.since(mark));
        },
      };
    },
    planChecks: (tx) => planChecks(tx, view),
    isScripted: (address) => view.get(scripts, address) !== undefined,
    isMined: (id) => confirmedHeight(view, id) !== undefined || executedBy(view, id) !== undefined,
    availableBalance: (address) => available(accountOf(view, address)),
    assetBalance: (address, assetId) => assetBalance(view, address, assetId),
  };
}
