/** A program whose speed is measured beside others, any number of times. */
import type { Instructions } from './instructions.ts';
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
  /** The same of all processes that took part (cost.ts), without a load that never sleeps. */
  readonly costPerOperation?: number | undefined;
  /** Operations that were in a block, where `perSecond` counts those that were accepted. */
  readonly committedPerSecond?: number | undefined;
  /** The part of the machine that nobody used, 0 to 1. */
  readonly idleShare?: number | undefined;
  /** Where the processor counts them. */
  readonly instructionsPerOperation?: Instructions | undefined;
}

export interface Contender {
  readonly name: string;
  run(ms: number): Promise<Sample>;
}

/** This machine cannot run a denominator, and why. */
export class NotInstalledError extends Error {
  override name = 'NotInstalledError';
}
