/** The interface of the chain to the pool. */
import type { ScriptTime } from '../chain/script-time.ts';
import type { CheckPlan, ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Funds } from './senders.ts';
import type { Spending } from './spending.ts';

/** Transactions that are tried one after the other, each on top of those before it. */
export interface TogetherOnHead {
  /** False as soon as the head has moved; later results are then meaningless. */
  isCurrent(): boolean;
  /** Throws ApiError. */
  tryApply(tx: Tx, verdicts: ProofVerdicts): Spending;
}

export interface PoolChain extends Funds {
  /**
   * Validates on top of the head as if in the next block, without leaving a trace, and says what
   * it takes from the sender. Throws ApiError, and what `runScript` throws.
   */
  tryApply(tx: Tx, verdicts: ProofVerdicts, runScript?: ScriptTime['run']): Spending;
  /** The same, except that signatures are not judged. Nothing is admitted by it. */
  tryUnjudged(tx: Tx, runScript?: ScriptTime['run']): Spending;
  /** The checks of proofs that scripts at the head will probably ask for. */
  planChecks(tx: Tx): CheckPlan | undefined;
  isScripted(address: Uint8Array): boolean;
  together(): TogetherOnHead;
  /** True where a block of the chain has it. */
  isMined(id: Uint8Array): boolean;
}
