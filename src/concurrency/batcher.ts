/**
 * Handles together what comes in one turn of the event loop. Whoever has something to be handled
 * keeps it and asks; one call at the end of the turn serves all that asked.
 */
export class Batcher {
  private readonly later: (run: () => void) => unknown;
  private readonly run: () => void;
  private isAsked = false;

  /** `later`: calls back after the other handlers of this turn. */
  constructor(handle: () => void, later: (run: () => void) => unknown = setImmediate) {
    this.later = later;
    this.run = () => {
      this.isAsked = false;
      handle();
    };
  }

  ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    this.later(this.run);
  }
}
