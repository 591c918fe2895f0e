/** Of a crawler whose figures nobody reads. */
import type { CrawlMeter } from '../../src/data-service/crawler/meter.ts';

const nothing = (): void => {};

export const noMeter: CrawlMeter = {
  fetching: () => nothing,
  writing: () => nothing,
  removing: () => nothing,
  written: nothing,
  wrote: nothing,
  reorganised: nothing,
};
