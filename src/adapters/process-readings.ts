/** Readings of the process: memory, processor time, and the delay of its timers. */
import type { ProcessReadings } from '../base/ports/process-readings.ts';
import { LoopDelayReader, measureLoopDelay } from './loop-delay.ts';

const MICROSECONDS = 1e6;

export function processReadings(): ProcessReadings {
  // Its histograms stay in use as long as the reader is.
  const delay = new LoopDelayReader(measureLoopDelay().histograms);
  const startSeconds = Date.now() / 1000 - process.uptime();
  return {
    loopDelay: () => delay.read(),
    residentBytes: () => process.memoryUsage.rss(),
    heapBytes: () => process.memoryUsage().heapUsed,
    cpuSeconds() {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS;
    },
    startSeconds: () => startSeconds,
  };
}
