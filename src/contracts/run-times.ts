/** How long the runs of each contract take, so that none begins that the block cannot wait for. */
import { Recent } from '../base/recent.ts';

export interface RunTimes {
  add(contract: string, ms: number): void;
  /** The time to allow for a run; undefined for a contract that has not run yet. */
  expected(contract: string): number | undefined;
}

const KNOWN_MAX = 10_000;
/** The weight of the newest run in the average. */
const NEWEST = 0.25;
/** Runs differ, and a short one may meet a busy machine. */
const MARGIN = 2;
const MARGIN_MS = 20;

export function createRunTimes(): RunTimes {
  const averages = new Recent<string, number>(KNOWN_MAX);
  return {
    add(contract, ms) {
      const before = averages.get(contract) ?? ms;
      averages.set(contract, before + NEWEST * (ms - before));
    },
    expected(contract) {
      const average = averages.get(contract);
      return average === undefined ? undefined : average * MARGIN + MARGIN_MS;
    },
  };
}
