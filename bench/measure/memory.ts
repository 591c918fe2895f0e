/** Resident memory of a process, from /proc. */
import { readFileSync } from 'node:fs';

export interface Memory {
  readonly rssMb: number;
  /** Of it the pages of mapped files, which the system takes back when it needs the room. */
  readonly mappedMb: number;
  /** The most it ever was. */
  readonly peakMb: number;
}

const KB_PER_MB = 1024;

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / KB_PER_MB;
  return { rssMb: field('VmRSS'), mappedMb: field('RssFile'), peakMb: field('VmHWM') };
}
