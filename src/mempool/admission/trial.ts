/**
 * Tries transactions on top of the head, one by one, without changing anything. The pool asks this
 * before it accepts one. The block time of the trial is now.
 */
import { equal } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { SCRIPT_RUNS_MAX } from '../../block/block.ts';
import { requireRunsOfBlock, requireUnitsOfBlock } from '../../chain/apply/block-scripts.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { candidateUnder, confirmedHeight } from '../../chain/store/stored-blocks.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { accountOf, available } from '../../ledger/accounts.ts';
import { assetBalance } from '../../ledger/assets.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { executedBy } from '../../ledger/contracts.ts';
import { createOverlay, type KeyedOverlay } from '../../ledger/overlay.ts';
import { scripts } from '../../ledger/tables.ts';
import { Meter, RUN_UNITS_MAX } from '../../script/evaluation/meter.ts';
import {
  applyTransaction,
  applyUnjudged,
  blockContext,
  type Knowledge,
} from '../../tx/pipeline.ts';
import type { ProofVerdicts } from '../../tx/proof-verdicts.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import { CheckPlanner, hasScripts } from '../../tx/scripts/plan-checks.ts';
import type { ScriptOwner, ScriptRuns } from '../../tx/scripts/script-runs.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';
import { type Spending, spendingOfAll } from '../entries/spending.ts';
import type { PoolChain, TogetherOnHead, TrialScripts } from '../pool-chain.ts';

export class Trial implements PoolChain {
  private readonly blockchain: Blockchain;
  private readonly view: KeyedView;
  private readonly rules: ChainRules;
  private readonly clock: Clock;
  private head: Uint8Array = new Uint8Array(0);
  private overlay: KeyedOverlay;
  private present: BlockContext | undefined;

  constructor(blockchain: Blockchain, rules: ChainRules, clock: Clock) {
    this.blockchain = blockchain;
    this.view = blockchain.view;
    this.rules = rules;
    this.clock = clock;
    this.overlay = createOverlay(this.view);
  }

  /** The context of the next block; its features are read once for each head. */
  context(): BlockContext {
    const tip = this.blockchain.tip();
    // Compared by id and not by height: a reorganisation may put another block at the same height.
    if (this.present === undefined || !equal(tip.id, this.head)) {
      this.head = tip.id;
      this.overlay = createOverlay(this.view);
      this.present = blockContext(this.view, this.rules, {
        height: tip.height + 1,
        timestamp: this.clock.now(),
        parentTimestamp: tip.header.timestamp,
      });
    }
    const now = this.clock.now();
    if (this.present.timestamp !== now) this.present = { ...this.present, timestamp: now };
    return this.present;
  }

  tryApply(tx: Tx, verdicts: ProofVerdicts, scripts: TrialScripts): Spending {
    return this.tryAlone(tx, scripts, (block, known) =>
      applyTransaction(tx, verdicts, this.overlay, block, known),
    );
  }

  tryUnjudged(tx: Tx, scripts: TrialScripts): Spending {
    return this.tryAlone(tx, scripts, (block, known) =>
      applyUnjudged(tx, this.overlay, block, known),
    );
  }

  together(): TogetherOnHead {
    const block = this.context();
    const at = this.head;
    const own = createOverlay(this.view);
    return {
      isCurrent: () => equal(this.blockchain.tip().id, at),
      tryApply: (tx, verdicts, scripts) =>
        this.tryOn(own, tx, scripts, (known) => applyTransaction(tx, verdicts, own, block, known)),
    };
  }

  hasScripts(tx: Tx): boolean {
    return hasScripts(tx, this.view);
  }

  planChecks(tx: Tx): ReturnType<PoolChain['planChecks']> {
    return new CheckPlanner(this.view, new TimeSlice(this.clock), SCRIPT_RUNS_MAX).plan(tx);
  }

  isScripted(address: Uint8Array): boolean {
    return this.view.get(scripts, address) !== undefined;
  }

  isMined(id: Uint8Array): boolean {
    return this.heightOf(id) !== undefined || executedBy(this.view, id) !== undefined;
  }

  availableBalance(address: Uint8Array): bigint {
    return available(accountOf(this.view, address));
  }

  assetBalance(address: Uint8Array, assetId: Uint8Array): bigint {
    return assetBalance(this.view, address, assetId);
  }

  private readonly heightOf = (id: Uint8Array): number | undefined =>
    confirmedHeight(this.view, id);

  private readonly find: Knowledge['find'] = (id) => candidateUnder(this.view, id);

  private tryAlone(
    tx: Tx,
    scripts: TrialScripts,
    apply: (block: BlockContext, known: Knowledge) => unknown,
  ): Spending {
    const block = this.context();
    const { overlay } = this;
    const mark = overlay.mark();
    const spending = this.tryOn(overlay, tx, scripts, (known) => apply(block, known));
    overlay.revert(mark);
    return spending;
  }

  /** Leaves the effects of `apply` on `ledger`. Throws what it throws. */
  private tryOn(
    ledger: KeyedOverlay,
    tx: Tx,
    scripts: TrialScripts,
    apply: (known: Knowledge) => unknown,
  ): Spending {
    const { heightOf, find } = this;
    const tried = new TriedTransaction(ledger, tx, scripts);
    apply({ heightOf, find, scripts: tried });
    return tried.spending();
  }
}

/** One transaction that is tried. */
class TriedTransaction implements ScriptRuns {
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

  /** What it takes from each account, while the ledger holds its effects. */
  spending(): Spending {
    return spendingOfAll(this.tx, this.ledger, () => this.ledger.changesSince(this.mark));
  }

  begin(runs: number): void {
    requireRunsOfBlock(runs);
    this.scripts.begin(this.spending());
  }

  run(_owner: ScriptOwner, script: (meter: Meter) => void): void {
    this.scripts.run(() => script(this.meter));
  }

  /**
   * The new script of a transaction alone was read when the transaction was decoded (decoder.ts), and
   * the smallest block has room for one. Those of many members are read here, and may be too many.
   */
  readNew(read: () => number): void {
    if (this.tx.def.members === undefined) return;
    this.scripts.run(() => {
      this.newUnits += read();
    });
    requireUnitsOfBlock(this.meter.used + this.newUnits);
  }
}
