/**
 * The running services of a node, on one stack, so that they can be ended.
 *
 * Each service pushes its end function as soon as it runs. The same stack serves a stop, a signal,
 * a failure while running, and a start that fails half-way. End functions run in reverse order, one
 * after the other. When one fails, the others still run.
 */
export class Disposal {
  private readonly ends: { readonly name: string; readonly end: () => unknown }[] = [];
  private readonly failures: string[] = [];
  private running: Promise<void> | undefined;

  /**
   * `end` may return a promise. A service that starts while the others are being ended is ended
   * too, and DisposedError tells the caller to stop.
   */
  add(name: string, end: () => unknown): void {
    this.ends.push({ name, end });
    if (this.running === undefined) return;
    this.running = this.running.then(() => this.endAll());
    throw new DisposedError();
  }

  /**
   * Resolves when all services have ended; rejects with DisposalError where some end functions
   * failed.
   */
  async dispose(): Promise<void> {
    // Starts in a later microtask, so that the first end function already sees `running` set.
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

/** Everything has been ended; no service can start any more. */
export class DisposedError extends Error {
  override name = 'DisposedError';

  constructor() {
    super('the node is being stopped');
  }
}

/** The services whose end failed, and why. */
export class DisposalError extends Error {
  override name = 'DisposalError';
}
