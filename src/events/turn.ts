/** A turn of a reader, which may be ended before its time. */
export class Turn {
  private ended = false;
  /** Most turns are over before anybody asks for it, and making one takes longer than they do. */
  private controller: AbortController | undefined;

  get isEnded(): boolean {
    return this.ended;
  }

  /** Aborted at the end. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.ended) this.controller.abort();
    return this.controller.signal;
  }

  end(): void {
    this.ended = true;
    this.controller?.abort();
  }
}
