/** An AbortController that is made when somebody asks for its signal: most work is over before. */
export class LazyAbort {
  private aborted = false;
  private controller: AbortController | undefined;

  get isAborted(): boolean {
    return this.aborted;
  }

  /** Of one that was aborted before, a signal that is. */
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
