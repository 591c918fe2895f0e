/**
 * A count of the work on a text or a tree from outside. Its bound is a number of steps and no time,
 * so every machine refuses the same input.
 */
import { ScriptError } from './tree.ts';

export class Steps {
  /** Steps since the beginning. */
  taken = 0;
  private readonly max: number;
  private readonly refusal: string;

  constructor(max: number, refusal: string) {
    this.max = max;
    this.refusal = refusal;
  }

  /** Throws ScriptError beyond the bound. */
  take(count = 1): void {
    this.taken += count;
    if (this.taken > this.max) throw new ScriptError(this.refusal);
  }
}
