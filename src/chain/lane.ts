/** One job at a time, in the order of asking: whatever moves the head goes through here. */
export class Lane {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs `job` when all earlier ones have ended; a failing job does not stop the later ones. */
  run<T>(job: () => Promise<T>): Promise<T> {
    const result = this.last.then(job, job);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything asked for so far has ended. */
  async idle(): Promise<void> {
    await this.last;
  }
}
