/** An AbortController that is made when somebody asks for its signal: most work is over before. */
export class LazyAbort {
  private aborted = false;
  private controller: AbortController | undefined;

  get isAborted(): boolean {
    return this.aborted;
  }

  /** After `abort` the signal is aborted from its beginning. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.aborted) this.controller.abort();
    return this.controller.signal;
  }

  abort(): void {
    this.aborted = true;
    this.controller?.abort();
  }
}
