/** Readings of the process: memory, processor time, and the delay of its timers. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessReadings } from '../base/ports.ts';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** Coarse enough to have no measurable cost. */
const RESOLUTION_MS = 10;

export function processReadings(): ProcessReadings {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const startSeconds = Date.now() / 1000 - process.uptime();
  return {
    loopDelay() {
      // The measured time includes the requested pause.
      const late = (nanoseconds: number): number =>
        Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000) || 0;
      const found = {
        p50: late(delay.percentile(50)),
        p99: late(delay.percentile(99)),
        max: late(delay.max),
      };
      delay.reset();
      return found;
    },
    residentBytes: () => process.memoryUsage.rss(),
    heapBytes: () => process.memoryUsage().heapUsed,
    cpuSeconds() {
      const { user, system } = process.cpuUsage();
      return (user + system) / MICROSECONDS;
    },
    startSeconds: () => startSeconds,
  };
}
