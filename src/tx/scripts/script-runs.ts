/**
 * The bounds under which scripts run. The pipeline runs no script without them, so each route that
 * applies transactions has to say what its scripts may take.
 */
import type { Meter } from '../../script/evaluation/meter.ts';

/** Whose script it is: the sender's, that of the sender of an order, or that of an asset. */
export type ScriptOwner = 'sender' | 'order' | 'asset';

export interface ScriptRuns {
  /**
   * Called before the first script of a transaction that all other rules accept, while the ledger
   * holds its effects; it has so many runs, those of orders aside. Throws ApiError where no script
   * shall run for it.
   */
  begin(runs: number): void;
  /**
   * Runs a script with the meter that all runs of the transaction share, so that the budget of a run
   * bounds the work for a transaction. Throws what the run throws, and ApiError BlockFull where the
   * block has no more for it.
   */
  run(owner: ScriptOwner, script: (meter: Meter) => void): void;
  /**
   * The script that the transaction puts into the state; after `begin`, and behind the runs. `read`
   * reads it and returns the units of that. Throws what it throws, and ApiError BlockFull where the
   * block has no more for it.
   */
  readNew(read: () => number): void;
}

/** Runs nothing, and notes whether there was anything to run, and how much. */
export class NotedRuns implements ScriptRuns {
  isAsked = false;
  /** The number of runs, those of orders aside. */
  count = 0;

  begin(): void {}

  run(owner: ScriptOwner): void {
    this.isAsked = true;
    if (owner !== 'order') this.count++;
  }

  readNew(): void {}
}
