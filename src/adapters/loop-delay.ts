/**
 * The delay of timers in a thread. The thread starts the measurement; another thread that gets the
 * histograms by a message reads the same numbers.
 *
 * Nobody knows how many readers there are, so no reading takes anything away from the next one: the
 * two histograms begin anew in turn, and the one that is read covers at least the last minute.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { LoopDelay } from '../base/ports/process-readings.ts';

const NANOSECONDS = 1e9;
/** Coarse enough to have no measurable cost. */
const RESOLUTION_MS = 10;
/** As long as most programs that collect metrics wait between two readings. */
export const COVERED_MS = 60_000;

/** What a reader needs of a histogram; its owner must keep it, or the measurement ends. */
export type DelayHistogram = Pick<IntervalHistogram, 'percentile' | 'max' | 'reset'>;
export type DelayHistograms = readonly [DelayHistogram, DelayHistogram];

export interface Measurement {
  readonly histograms: DelayHistograms;
  end(): void;
}

export function measureLoopDelay(): Measurement {
  const begin = (): IntervalHistogram => {
    const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    histogram.enable();
    return histogram;
  };
  const histograms = [begin(), begin()] as const;
  return {
    histograms,
    end() {
      for (const one of histograms) one.disable();
    },
  };
}

export class LoopDelayReader {
  private readonly now: () => number;
  private older: DelayHistogram;
  private younger: DelayHistogram;
  /** When `younger` began. */
  private since: number;

  /** `now`: milliseconds of a clock that nobody sets. */
  constructor([older, younger]: DelayHistograms, now = (): number => performance.now()) {
    this.now = now;
    this.older = older;
    this.younger = younger;
    this.since = now();
  }

  /** The delay of at least the last minute, or since the start. Frequent reads keep it below two minutes. */
  read(): LoopDelay {
    const now = this.now();
    if (now - this.since >= COVERED_MS) {
      [this.older, this.younger] = [this.younger, this.older];
      this.younger.reset();
      this.since = now;
    }
    return delayOf(this.older);
  }
}

function delayOf(histogram: DelayHistogram): LoopDelay {
  // The measured time includes the requested pause.
  const late = (nanoseconds: number): number =>
    Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000) || 0;
  return {
    p50: late(histogram.percentile(50)),
    p99: late(histogram.percentile(99)),
    max: late(histogram.max),
  };
}
