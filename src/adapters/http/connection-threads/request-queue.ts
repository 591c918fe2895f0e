/**
 * Requests that other threads have passed on, in the order of arrival. The time that they take of
 * one turn of the event loop is limited, so that blocks, peers and timers run in between, however
 * many requests wait. What a body says can make a request take many milliseconds, so those without
 * one have a line and a time of their own. The threads limit their number.
 */
import { Batcher } from '../../../concurrency/batcher.ts';

const TURN_MS = 3;

type Work = () => void;

export class RequestQueue {
  private readonly bare = new Queue();
  private readonly withBody = new Queue();
  private readonly turn = new Batcher(() => this.run());

  /** Runs it in this turn or a later one. */
  add(work: Work, hasBody: boolean): void {
    (hasBody ? this.withBody : this.bare).push(work);
    this.turn.ask();
  }

  private run(): void {
    const isDone = [this.bare.run(), this.withBody.run()];
    if (isDone.includes(false)) this.turn.ask();
  }
}

class Queue {
  private waiting: Work[] = [];
  private next = 0;

  push(work: Work): void {
    this.waiting.push(work);
  }

  /** Runs the first ones for the time of a turn, at least one; true where none is left. */
  run(): boolean {
    const ends = performance.now() + TURN_MS;
    while (this.next < this.waiting.length) {
      this.waiting[this.next++]!();
      if (performance.now() >= ends) break;
    }
    if (this.next < this.waiting.length) return false;
    this.waiting = [];
    this.next = 0;
    return true;
  }
}
