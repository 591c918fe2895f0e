/**
 * What the scripts of each sender have taken of a block in the making. Without shares, one account
 * could fill all blocks that follow with its scripts, and those of all others would wait.
 */
import { BLOCK_SCRIPT_UNITS_MAX, SCRIPT_RUNS_MAX } from '../block/block.ts';
import type { ScriptsTaken } from '../chain/apply/block-scripts.ts';

/** The part of a block that a sender gets before all others have had their turn. */
const SHARE = 1 / 4;
const NOTHING: ScriptsTaken = { runs: 0, units: 0 };

export class ScriptShares {
  private readonly tried: () => ScriptsTaken;
  private before: ScriptsTaken;
  /** By sender; those without scripts are absent. */
  private readonly shares = new Map<string, ScriptsTaken>();

  /** `tried`: what scripts have taken so far, those of refused transactions too. */
  constructor(tried: () => ScriptsTaken = () => NOTHING) {
    this.tried = tried;
    this.before = tried();
  }

  isUsedUp(sender: string): boolean {
    const share = this.shares.get(sender);
    if (share === undefined) return false;
    return share.runs >= SCRIPT_RUNS_MAX * SHARE || share.units >= BLOCK_SCRIPT_UNITS_MAX * SHARE;
  }

  /** After each transaction of the sender. */
  note(sender: string): void {
    const { before } = this;
    const now = this.tried();
    if (now === before) return;
    this.before = now;
    const share = this.shares.get(sender) ?? NOTHING;
    this.shares.set(sender, {
      runs: share.runs + now.runs - before.runs,
      units: share.units + now.units - before.units,
    });
  }
}
