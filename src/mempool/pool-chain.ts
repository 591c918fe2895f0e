/** The interface of the chain to the pool. */
import type { CheckPlan, ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Funds } from './entries/senders.ts';
import type { Spending } from './entries/spending.ts';

/** What the scripts of a tried transaction may take beside their units (script-runs.ts). */
export interface TrialScripts {
  /**
   * Called before the first script of a transaction that all other rules accept, with what it takes
   * from its sender. Throws ApiError where no script shall run for it.
   */
  begin(spending: Spending): void;
  /** Runs a script. Throws what it throws, and ApiError where there is no time for it. */
  run(script: () => void): void;
}

/** Transactions that are tried one after the other, each on top of those before it. */
export interface TogetherOnHead {
  /** False as soon as the head has moved; later results are then meaningless. */
  isCurrent(): boolean;
  /** Throws ApiError. */
  tryApply(tx: Tx, verdicts: ProofVerdicts, scripts: TrialScripts): Spending;
}

export interface PoolChain extends Funds {
  /**
   * Validates on top of the head as if in the next block, without leaving a trace, and says what
   * it takes from the sender. Throws ApiError, and what `scripts` throws.
   */
  tryApply(tx: Tx, verdicts: ProofVerdicts, scripts: TrialScripts): Spending;
  /** The same, except that signatures are not judged. Nothing is admitted by it. */
  tryUnjudged(tx: Tx, scripts: TrialScripts): Spending;
  /** True where scripts of accounts will judge it; reads none of them. */
  hasScripts(tx: Tx): boolean;
  /** The checks of proofs that scripts at the head will probably ask for. */
  planChecks(tx: Tx): CheckPlan | undefined | Promise<CheckPlan | undefined>;
  isScripted(address: Uint8Array): boolean;
  together(): TogetherOnHead;
  /** True where a block of the chain has it. */
  isMined(id: Uint8Array): boolean;
}
