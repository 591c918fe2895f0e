import type { Serving } from './serving-turns.ts';

/**
 * Keeps a long body from filling a whole turn: its connection is read no further until a turn has
 * room. What the server has read already, up to some megabytes, still comes after the pause.
 */
export class BackPressure {
  private readonly connection: { pause(): void; resume(): void };
  private readonly serving: Serving;
  private isPaused = false;

  constructor(connection: { pause(): void; resume(): void }, serving: Serving) {
    this.connection = connection;
    this.serving = serving;
  }

  /** Counts a piece of the body. */
  arrive(bytes: number): void {
    if (this.serving.arrive(bytes) || this.isPaused) return;
    this.isPaused = true;
    this.connection.pause();
    this.serving.deferArrival(() => this.release());
  }

  /** Lets the connection read on, for the next request too: before the answer, which ends its use. */
  release(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.connection.resume();
  }

  /** The connection is gone. */
  abandon(): void {
    this.isPaused = false;
  }
}
