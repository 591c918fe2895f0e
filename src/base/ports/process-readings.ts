/** Delay of timers of a thread, in seconds, by quantile. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What the process reads about itself. */
export interface ProcessReadings {
  /** Of the main thread, over the last minute at least. */
  loopDelay(): LoopDelay;
  /** Bytes of memory that the process holds. */
  residentBytes(): number;
  heapBytes(): number;
  /** Seconds of processor time since the start. */
  cpuSeconds(): number;
  /** Seconds since 1970 at which the process began. */
  startSeconds(): number;
}
