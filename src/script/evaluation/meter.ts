/**
 * What a run of a script may consume (docs/protocol/scripts.md#metering). Units are integers that
 * follow from the script, the transaction and the state alone, so every node counts the same.
 */
import { EvaluationFailure } from '../language/values.ts';

/** Units that one run may consume, and all runs for one transaction; a tenth of a block. */
export const RUN_UNITS_MAX = 1_250_000;

/** The budget of a run in a chain without the feature: nothing reaches it. */
export const UNMETERED = Number.MAX_SAFE_INTEGER;

/** The refusal of a run that needs more units than it has. */
export class OutOfUnits extends EvaluationFailure {
  override name = 'OutOfUnits';

  constructor(budget: number) {
    super(`The script needs more than ${budget} units`);
  }
}

/** Counts the units of one run, or of all runs for one transaction. */
export class Meter {
  readonly budget: number;
  #used = 0;

  /** `budget` is a non-negative safe integer, or UNMETERED. */
  constructor(budget: number) {
    this.budget = budget;
  }

  /**
   * The units that the run consumed. Where it asked for more than the budget, they are the budget
   * itself, whatever the size of the last charge.
   */
  get used(): number {
    return this.#used;
  }

  /** False before the feature, where the limits that it brings do not apply either. */
  get isLimited(): boolean {
    return this.budget !== UNMETERED;
  }

  /** `units` is a non-negative integer. Throws OutOfUnits where the sum passes the budget. */
  charge(units: number): void {
    if (units > this.budget - this.#used) {
      this.#used = this.budget;
      throw new OutOfUnits(this.budget);
    }
    this.#used += units;
  }
}
