/**
 * How much garbage V8 lets the heap of a node gather. Under load V8 waits until the heap is 3.7
 * times what was in use after the last collection, which is mostly transactions of blocks that are
 * on disk. The collection itself runs beside the main thread, which stops for about 5 ms.
 *
 * A full pool is in use for long and makes no more garbage than an empty one, so the growth has a
 * limit in bytes, too. V8 knows none; after each collection the share is set that makes it.
 */
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of what is in use: the next collection begins when the old generation has grown by so much. */
const GROWTH_PERCENT = 150;
const GROWTH_BYTES_MAX = 48 * 1024 * 1024;
/** A collection of a large heap takes long, so there is a least growth between two. */
const GROWTH_PERCENT_MIN = 40;

/**
 * For all threads of the process; takes effect at the next collection. Returns the end of it.
 *
 * It begins `afterMs` later. With another flag V8 rejects the compiled code that Node and the launcher
 * keep, so modules and threads that begin then take twice as much processor time to load, and the next
 * process compiles the same modules again.
 */
export function limitHeapGrowth(afterMs = 0): () => void {
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isFull)) setGrowth(growthPercent(oldBytes()));
  });
  const begin = (): void => {
    setGrowth(GROWTH_PERCENT);
    observer.observe({ entryTypes: ['gc'] });
  };
  const beginning = afterMs === 0 ? void begin() : setTimeout(begin, afterMs).unref();
  return () => {
    clearTimeout(beginning);
    observer.disconnect();
  };
}

/** `used`: bytes of the old generation after a collection. */
export const growthPercent = (used: number): number => {
  const percent = Math.floor((100 * GROWTH_BYTES_MAX) / used);
  return Math.max(GROWTH_PERCENT_MIN, Math.min(GROWTH_PERCENT, percent));
};

const setGrowth = (percent: number): void =>
  setFlagsFromString(`--heap-growing-percent=${percent}`);

/** Young generations are collected far more often. */
const isFull = (entry: PerformanceEntry): boolean => {
  const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
};

const oldBytes = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new'))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
