/** Resident memory of a process, from /proc. */
import { readFileSync } from 'node:fs';

export interface Memory {
  readonly rssMb: number;
  /** The most it ever was. */
  readonly peakMb: number;
}

const KB_PER_MB = 1024;

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / KB_PER_MB;
  return { rssMb: field('VmRSS'), peakMb: field('VmHWM') };
}
