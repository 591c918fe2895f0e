/**
 * What has started and is to be ended: one stack for all services of a node.
 *
 * Each service puts its end on the stack as soon as it runs. The same stack serves a stop, a signal, a
 * failure while running, and a start that fails half-way. Ends run in reverse order, one after the
 * other; one that fails does not keep the others from running.
 */
export class Disposal {
  private readonly ends: { readonly name: string; readonly end: () => unknown }[] = [];
  private readonly failures: string[] = [];
  private running: Promise<void> | undefined;

  /**
   * `end` may return a promise. What starts while the others are ended already is ended, too, and
   * DisposedError tells the caller to go no further.
   */
  add(name: string, end: () => unknown): void {
    this.ends.push({ name, end });
    if (this.running === undefined) return;
    this.running = this.running.then(() => this.endAll());
    throw new DisposedError();
  }

  /** Resolves when all have ended; rejects with DisposalError where some ends failed. */
  async dispose(): Promise<void> {
    // Not at once, so that the first end already finds that the others are being ended.
    this.running ??= Promise.resolve().then(() => this.endAll());
    let seen: Promise<void> | undefined;
    while (seen !== this.running) {
      seen = this.running;
      await seen;
    }
    if (this.failures.length > 0) throw new DisposalError(this.failures.join('; '));
  }

  private async endAll(): Promise<void> {
    for (let last = this.ends.pop(); last !== undefined; last = this.ends.pop()) {
      try {
        await last.end();
      } catch (cause) {
        this.failures.push(`${last.name}: ${cause instanceof Error ? cause.message : cause}`);
      }
    }
  }
}

/** Everything has been ended: nothing more can start. */
export class DisposedError extends Error {
  override name = 'DisposedError';

  constructor() {
    super('the node is being stopped');
  }
}

/** Services that did not end in good order, and why. */
export class DisposalError extends Error {
  override name = 'DisposalError';
}
