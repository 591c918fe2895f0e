/**
 * The time of day and the passing of time. The time of day may jump forward and back while the node
 * runs, so it serves only for times that nodes compare. Durations are differences of `monotonic`.
 */
export interface Clock {
  /** Time of day corrected by time servers, in milliseconds since 1970-01-01 UTC. */
  now(): number;
  /** Milliseconds since an arbitrary moment; it never jumps and never goes back. */
  monotonic(): number;
  /** The uncorrected system time, for GET /utils/time. */
  system(): number;
  /** Calls `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Resolves once everything else that waits in the event loop has run. */
  turn(): Promise<void>;
  /** False once the time was unconfirmed for too long; a miner then makes no blocks (H-6). */
  synchronized(): boolean;
  /** True while the time servers confirm the time of day; absent: none are asked. */
  confirmed?(): boolean;
}
