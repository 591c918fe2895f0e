/** Limits of the verification pool: how many checks wait, travel together and may fail. */
export const verifyPoolLimits = {
  checks: 65_536,
  messageBytes: 256 * 1024 * 1024,
  cachedKeysPerThread: 100_000,
  /** About 5 ms of work: the time that a single check may wait behind each batch of a block. */
  batchChecks: 64,
  /** For single checks: each verdict is followed by work on the main thread in the same turn. */
  batchSingles: 16,
  batchBytes: 64 * 1024,
  /** A smaller number is not worth a second thread: waking one costs as much as a check. */
  shareMin: 4,
  /** Batches passed to a thread and not answered, so that it finds work when it finishes one. */
  batchesPerThread: 2,
  /** Threads that may die over one check. */
  attempts: 3,
  /** Threads that may die in a row without an answer; then the program itself is broken. */
  deathsInARow: 8,
  /** Heap of a thread in MiB; its cached keys are outside the heap. */
  threadHeap: 64,
};
