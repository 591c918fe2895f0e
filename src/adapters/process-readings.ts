/** Readings of the process: memory, processor time, and the delay of its timers. */
import type { ProcessReadings } from '../base/ports/process-readings.ts';
import { measureLoopDelay, readLoopDelay } from './loop-delay.ts';

const MICROSECONDS = 1e6;

export function processReadings(): ProcessReadings {
  const delay = measureLoopDelay();
  const startSeconds = Date.now() / 1000 - process.uptime();
  return {
    loopDelay: () => readLoopDelay(delay),
    residentBytes: () => process.memoryUsage.rss(),
    heapBytes: () => process.memoryUsage().heapUsed,
    cpuSeconds() {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS;
    },
    startSeconds: () => startSeconds,
  };
}
