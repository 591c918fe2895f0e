/** Counts latencies in steps of 10 µs, so that a long run needs no more memory than a short one. */
const STEPS_PER_MS = 100;
const MAX_MS = 10_000;

export class Latencies {
  private readonly counts = new Uint32Array(MAX_MS * STEPS_PER_MS + 1);
  private max = 0;
  count = 0;

  add(ms: number): void {
    // A timer may fire a little early, and so an answer may come before its request was due.
    const step = Math.max(0, Math.min((ms * STEPS_PER_MS) | 0, MAX_MS * STEPS_PER_MS));
    this.counts[step]!++;
    this.count++;
    if (ms > this.max) this.max = ms;
  }

  maxMs(): number {
    return this.max;
  }

  /** The time within which this share of all answers came. */
  quantileMs(share: number): number {
    let left = this.count * share;
    for (const [step, count] of this.counts.entries()) {
      left -= count;
      if (left <= 0) return step / STEPS_PER_MS;
    }
    return MAX_MS;
  }
}
