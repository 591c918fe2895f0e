/** Runs one job at a time, in the order of the calls. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  /** Runs `job` when all earlier ones have ended; a failing job does not stop the later ones. */
  run<T>(job: () => Promise<T>): Promise<T> {
    const result = this.last.then(job, job);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all jobs given so far have ended. */
  async idle(): Promise<void> {
    await this.last;
  }
}
