/** How long the runs of each contract take, so that none begins that the block cannot wait for. */
import { BoundedCache } from '../../concurrency/bounded-cache.ts';

export interface RunTimes {
  add(contract: string, image: string, ms: number): void;
  /**
   * The time to allow for a run; before the first one of a contract, as for others with its image,
   * and undefined for an image that has not run yet.
   */
  expected(contract: string, image: string): number | undefined;
}

const KNOWN_MAX = 10_000;
/** The weight of the newest run in the average. */
const NEWEST = 0.25;
/** Runs differ, and a short one may meet a busy machine. */
const MARGIN = 2;
const MARGIN_MS = 20;

export function createRunTimes(): RunTimes {
  const ofContracts = new BoundedCache<string, number>(KNOWN_MAX);
  const ofImages = new BoundedCache<string, number>(KNOWN_MAX);
  const count = (averages: BoundedCache<string, number>, key: string, ms: number): void => {
    const before = averages.get(key) ?? ms;
    averages.set(key, before + NEWEST * (ms - before));
  };
  return {
    add(contract, image, ms) {
      count(ofContracts, contract, ms);
      count(ofImages, image, ms);
    },
    expected(contract, image) {
      const average = ofContracts.get(contract) ?? ofImages.get(image);
      return average === undefined ? undefined : average * MARGIN + MARGIN_MS;
    },
  };
}
