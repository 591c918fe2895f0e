/**
 * Tries transactions on top of the head, one by one, without changing anything. The pool asks this
 * before it accepts one. The block time of the trial is now.
 */
import { equal } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import { SCRIPT_RUNS_MAX } from '../../block/block.ts';
import { requireRunsOfBlock, requireUnitsOfBlock } from '../../chain/apply/block-scripts.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { candidateUnder, confirmedHeight } from '../../chain/store/stored-blocks.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { accountOf, available } from '../../ledger/accounts.ts';
import { assetBalance } from '../../ledger/assets.ts';
import { executedBy } from '../../ledger/contracts.ts';
import { createOverlay, type KeyedOverlay } from '../../ledger/overlay.ts';
import { scripts } from '../../ledger/tables.ts';
import { Meter, RUN_UNITS_MAX } from '../../script/meter.ts';
import {
  applyTransaction,
  applyUnjudged,
  blockContext,
  type Knowledge,
} from '../../tx/pipeline.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import { CheckPlanner, hasScripts } from '../../tx/scripts/plan-checks.ts';
import type { ScriptOwner, ScriptRuns } from '../../tx/scripts/script-runs.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';
import { type Spending, spendingOfAll } from '../entries/spending.ts';
import type { PoolChain, TrialScripts } from '../pool-chain.ts';

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

  const heightOf = (id: Uint8Array): number | undefined => confirmedHeight(view, id);

  /** Leaves the effects of `apply` on `ledger`. Throws what it throws. */
  function tryOn(
    ledger: KeyedOverlay,
    tx: Tx,
    scripts: TrialScripts,
    apply: (known: Knowledge) => unknown,
  ): Spending {
    const trial = new Trial(ledger, tx, scripts);
    apply({ heightOf, find: (id) => candidateUnder(view, id), scripts: trial });
    return trial.spending();
  }

  function tryAlone(
    tx: Tx,
    scripts: TrialScripts,
    apply: (block: BlockContext, known: Knowledge) => unknown,
  ): Spending {
    const block = present();
    const mark = overlay.mark();
    const spending = tryOn(overlay, tx, scripts, (known) => apply(block, known));
    overlay.revert(mark);
    return spending;
  }

  return {
    context: present,
    tryApply: (tx, verdicts, scripts) =>
      tryAlone(tx, scripts, (block, known) =>
        applyTransaction(tx, verdicts, overlay, block, known),
      ),
    tryUnjudged: (tx, scripts) =>
      tryAlone(tx, scripts, (block, known) => applyUnjudged(tx, overlay, block, known)),
    together() {
      const block = present();
      const at = head;
      const own = createOverlay(view);
      return {
        isCurrent: () => equal(blockchain.tip().id, at),
        tryApply: (tx, verdicts, scripts) =>
          tryOn(own, tx, scripts, (known) => applyTransaction(tx, verdicts, own, block, known)),
      };
    },
    hasScripts: (tx) => hasScripts(tx, view),
    planChecks: (tx) => new CheckPlanner(view, new TimeSlice(clock), SCRIPT_RUNS_MAX).plan(tx),
    isScripted: (address) => view.get(scripts, address) !== undefined,
    isMined: (id) => confirmedHeight(view, id) !== undefined || executedBy(view, id) !== undefined,
    availableBalance: (address) => available(accountOf(view, address)),
    assetBalance: (address, assetId) => assetBalance(view, address, assetId),
  };
}

/** One transaction that is tried. */
class Trial implements ScriptRuns {
  private readonly ledger: KeyedOverlay;
  private readonly tx: Tx;
  private readonly scripts: TrialScripts;
  private readonly mark: number;
  /**
   * There is a budget also before feature 1000 is active: the pool takes only what fits into the
   * blocks of this node.
   */
  private readonly meter = new Meter(RUN_UNITS_MAX);
  private newUnits = 0;

  constructor(ledger: KeyedOverlay, tx: Tx, scripts: TrialScripts) {
    this.ledger = ledger;
    this.tx = tx;
    this.scripts = scripts;
    this.mark = ledger.mark();
  }

  /** What it takes from its sender, while the ledger holds its effects. */
  spending(): Spending {
    return spendingOfAll(this.tx, () => this.ledger.since(this.mark));
  }

  begin(runs: number): void {
    requireRunsOfBlock(runs);
    this.scripts.begin(this.spending());
  }

  run(_owner: ScriptOwner, script: (meter: Meter) => void): void {
    this.scripts.run(() => script(this.meter));
  }

  /**
   * Every door of the pool has read it (decoder.ts), and the least block has room for one, but not for
   * those of many members.
   */
  readNew(read: () => number): void {
    if (this.tx.def.members === undefined) return;
    this.scripts.run(() => {
      this.newUnits += read();
    });
    requireUnitsOfBlock(this.meter.used + this.newUnits);
  }
}
