/** A program whose speed is measured beside others, any number of times. */
import type { ThreadTimes } from './thread-times.ts';

export interface Sample {
  /** Operations that succeeded. */
  readonly perSecond: number;
  readonly p99Ms?: number | undefined;
  /** Processor seconds that the measured process used for one operation. */
  readonly cpuPerOperation?: number | undefined;
  /** The same of its main thread alone. */
  readonly mainPerOperation?: number | undefined;
  /** The same by kind of thread. */
  readonly threadsPerOperation?: ThreadTimes | undefined;
  /** The same of all processes that took part (cost.ts). */
  readonly costPerOperation?: number | undefined;
}

export interface Contender {
  readonly name: string;
  /** How long its runs last, where that differs from the others'. */
  readonly ms?: number;
  run(ms: number): Promise<Sample>;
}

/** This machine cannot run a denominator, and why. */
export class NotInstalledError extends Error {
  override name = 'NotInstalledError';
}
