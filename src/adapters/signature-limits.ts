/** What waits for a verdict, travels together and may fail in the verification pool. */
export const verifyPoolLimits = {
  checks: 65_536,
  messageBytes: 256 * 1024 * 1024,
  cachedKeysPerThread: 100_000,
  /** About 5 ms of work: what a single check may wait behind each batch of a block. */
  batchChecks: 64,
  /** Of single checks: each verdict is followed by work on the main thread in the same turn. */
  batchSingles: 16,
  batchBytes: 64 * 1024,
  /** Fewer are not worth a second thread: waking one costs as much as a check. */
  shareMin: 4,
  /** Handed over and not answered, so that a thread finds work when it finishes. */
  batchesPerThread: 2,
  /** Threads that may die over one check. */
  attempts: 3,
  /** Threads that may die in a row without a single answer: then the program is broken. */
  deathsInARow: 8,
  /** Heap of a thread, MiB; what it keeps per key is outside. */
  threadHeap: 64,
};
