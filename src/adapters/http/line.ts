/**
 * Requests that other threads have passed on, in the order of arrival. The time that they take of
 * one turn of the event loop is limited, so that blocks, peers and timers run in between, however
 * many requests wait. The threads limit their number.
 */
const TURN_MS = 3;

type Work = () => void;

export class Line {
  private waiting: Work[] = [];
  private next = 0;
  private scheduled = false;

  /** Runs it in this turn or a later one. */
  add(work: Work): void {
    this.waiting.push(work);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    this.scheduled = false;
    const ends = performance.now() + TURN_MS;
    while (this.next < this.waiting.length) {
      this.waiting[this.next++]!();
      if (performance.now() < ends) continue;
      this.schedule();
      break;
    }
    if (this.next < this.waiting.length) return;
    this.waiting = [];
    this.next = 0;
  }
}
