/**
 * What the scripts of a block may take (blocks.md#scripts-of-a-block).
 *
 * Invariant: a block is judged by what the scripts of its transactions take, and by nothing that was
 * tried beside them: its generator and every node that checks it come to the same sum.
 */
import { type ApiError, apiError, refused } from '../../base/errors.ts';
import { BLOCK_SCRIPT_UNITS_MAX, SCRIPT_RUNS_MAX } from '../../block/block.ts';
import { Meter, RUN_UNITS_MAX, UNMETERED } from '../../script/evaluation/meter.ts';
import type { ScriptOwner, ScriptRuns } from '../../tx/scripts/script-runs.ts';
import type { ScriptTime } from './script-time.ts';

/** What the scripts of a block have taken. */
export interface ScriptsTaken {
  readonly runs: number;
  /** Always 0 in a block without budget. */
  readonly units: number;
}

export class BlockScripts implements ScriptRuns {
  private readonly isMetered: boolean;
  private readonly time: ScriptTime | undefined;
  private taken: ScriptsTaken = { runs: 0, units: 0 };
  /** What all tried scripts have taken; nothing is taken back. A new object where it changes. */
  tried: ScriptsTaken = { runs: 0, units: 0 };
  /** The meter of the present transaction. */
  private meter: Meter;
  /** Units that were taken before this transaction. */
  private before = 0;

  /**
   * `isActive`: feature 1000 is active at the height of the block. A block of this node has a
   * `time`, and keeps to the budget also without the feature.
   */
  constructor(isActive: boolean, time: ScriptTime | undefined) {
    this.isMetered = isActive || time !== undefined;
    this.time = time;
    this.meter = this.newMeter();
  }

  begin(runs: number): void {
    requireRunsOfBlock(runs);
    this.time?.begin();
    this.before = this.taken.units;
    this.meter = this.newMeter();
  }

  run(owner: ScriptOwner, script: (meter: Meter) => void): void {
    const { isMetered, time, meter } = this;
    const { runs } = this.taken;
    const isCounted = isMetered || owner !== 'order';
    if (isCounted && runs >= SCRIPT_RUNS_MAX) throw full(`${SCRIPT_RUNS_MAX} runs`);
    const before = meter.used;
    try {
      if (time === undefined) script(meter);
      else time.run(() => script(meter));
    } finally {
      this.note(1, meter.used - before);
    }
    this.take(isCounted ? 1 : 0, meter.used - before);
  }

  readNew(read: () => number): void {
    const { time } = this;
    let units = 0;
    const reading = (): void => {
      units = read();
    };
    if (time === undefined) reading();
    else time.run(reading);
    this.note(0, units);
    this.take(0, units);
  }

  /** For `restore`, where a transaction turns out not to belong to the block. */
  save(): ScriptsTaken {
    return this.taken;
  }

  restore(taken: ScriptsTaken): void {
    this.taken = taken;
  }

  private note(runs: number, units: number): void {
    const { tried } = this;
    this.tried = { runs: tried.runs + runs, units: tried.units + units };
  }

  private take(runs: number, units: number): void {
    const sum = this.taken.units + (this.isMetered ? units : 0);
    requireUnitsOfBlock(sum - this.before);
    if (sum > BLOCK_SCRIPT_UNITS_MAX) throw full(`${BLOCK_SCRIPT_UNITS_MAX} units`);
    this.taken = { runs: this.taken.runs + runs, units: sum };
  }

  private newMeter(): Meter {
    return new Meter(this.isMetered ? RUN_UNITS_MAX : UNMETERED);
  }
}

/**
 * Throws ApiError where a transaction has more runs than any block: many members, each judged by the
 * scripts of its sender and of its asset.
 */
export function requireRunsOfBlock(runs: number): void {
  if (runs <= SCRIPT_RUNS_MAX) return;
  throw refused(
    `The transaction needs ${runs} runs of scripts, and a block has at most ${SCRIPT_RUNS_MAX}`,
  );
}

/** The same for units: the new scripts of many members. */
export function requireUnitsOfBlock(units: number): void {
  if (units <= BLOCK_SCRIPT_UNITS_MAX) return;
  throw refused(
    'The scripts of the transaction need more units than a block has: ' +
      `${units}, at most ${BLOCK_SCRIPT_UNITS_MAX}`,
  );
}

const full = (limit: string): ApiError => apiError('BlockFull', `more than ${limit} of scripts`);
