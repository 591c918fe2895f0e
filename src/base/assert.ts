/**
 * Programmer errors. An assertion that fails means that the node itself is wrong, so nobody
 * catches it: the process stops with exit code 70 rather than go on with a wrong state.
 */
export class AssertionError extends Error {
  override name = 'AssertionError';
}

/** Stops the node when `condition` does not hold; `why` says which invariant broke. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new AssertionError(why);
}
