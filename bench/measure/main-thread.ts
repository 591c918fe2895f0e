/** Processor time of the main thread of a process from /proc; on a system without it 0. */
import { readFileSync } from 'node:fs';

const NANOSECONDS = 1e9;

/** Seconds on a processor, user and system together. The scheduler counts them by the nanosecond. */
export function mainThreadSeconds(pid: number): number {
  try {
    const [onProcessor] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(onProcessor) / NANOSECONDS;
  } catch {
    return 0;
  }
}
