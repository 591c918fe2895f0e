/**
 * An error that is the ordinary answer to bad input. Such errors are thrown by the thousand and
 * their stack is never read, and collecting it would cost more than the check that failed.
 */
export abstract class ExpectedError extends Error {
  constructor(message?: string) {
    const frames = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = frames;
  }
}

/** The same for errors of the language: those that `read` throws have no stack. */
export function withoutStack<T>(read: () => T): T {
  const frames = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return read();
  } finally {
    Error.stackTraceLimit = frames;
  }
}
