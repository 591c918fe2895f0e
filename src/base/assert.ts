/**
 * Programmer errors. An assertion that fails means that the node itself is wrong, so nobody
 * catches it: the process stops with exit code 70 rather than go on with a wrong state.
 */
export class AssertionError extends Error {
  override name = 'AssertionError';
}

/** True of a fault of this node: it is not caught, or thrown on, so that the node stops. */
export const isOurs = (cause: unknown): boolean => cause instanceof AssertionError;

/**
 * For the end of work that no caller waits for: what failed is told to `log`, and a fault of this
 * node becomes an unhandled rejection, which stops it.
 */
export const unlessOurs =
  (tell: (cause: unknown) => void) =>
  (cause: unknown): void => {
    if (isOurs(cause)) throw cause;
    tell(cause);
  };

/** Stops the node when `condition` does not hold; `why` says which invariant broke. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new AssertionError(why);
}
