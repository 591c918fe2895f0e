/**
 * Programmer errors. An assertion that fails means that the node itself is wrong. No code catches
 * it: the process stops with exit code 70, because a wrong state must not grow.
 */
export class AssertionError extends Error {
  override name = 'AssertionError';
}

/**
 * True for a fault of this node. Code that catches errors throws such a fault on, so that the node
 * stops.
 */
export const isOurs = (cause: unknown): boolean => cause instanceof AssertionError;

/**
 * Ends work that no caller waits for. A failure goes to `log`; a fault of this node becomes an
 * unhandled rejection, which stops the node.
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
