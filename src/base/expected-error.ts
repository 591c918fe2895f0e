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
