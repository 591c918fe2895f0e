/**
 * The delay of timers in a thread. The thread starts the measurement; another thread that gets the
 * histogram by a message reads the same numbers.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { LoopDelay } from '../base/ports/process-readings.ts';

const NANOSECONDS = 1e9;
/** Coarse enough to have no measurable cost. */
const RESOLUTION_MS = 10;

/** What a reader needs of the histogram; its owner must keep it, or the measurement ends. */
export type DelayHistogram = Pick<IntervalHistogram, 'percentile' | 'max' | 'reset'>;

export function measureLoopDelay(): IntervalHistogram {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return histogram;
}

/** Since the last call. */
export function readLoopDelay(histogram: DelayHistogram): LoopDelay {
  // The measured time includes the requested pause.
  const late = (nanoseconds: number): number =>
    Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000) || 0;
  const found = {
    p50: late(histogram.percentile(50)),
    p99: late(histogram.percentile(99)),
    max: late(histogram.max),
  };
  histogram.reset();
  return found;
}
