/** How long single operations take, and which of them are typical. */

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
}

/** Of milliseconds in any order. */
export function latencyOf(times: readonly number[]): Latency {
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99), count: sorted.length };
}
