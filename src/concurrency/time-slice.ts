/**
 * Long work in short slices. Code that works through thousands of items asks between them whether
 * its slice is over, and then yields, so that everything else in the event loop can run.
 */
import type { Clock } from '../base/ports/clock.ts';

/** Several slices of different work may fall into one turn, which must stay far below 20 ms. */
const SLICE_MS = 2;
/** A request waits three times: for its arrival, for the verdict on its signature, for the disk. */
const TURNS_BETWEEN = 3;
/**
 * Turns of a busy node are long. One of them is then enough; with three, a block would not be ready
 * in time.
 */
const BETWEEN_MS = 4;

export class TimeSlice {
  private readonly clock: Pick<Clock, 'monotonic' | 'turn'>;
  private ends: number;

  constructor(clock: Pick<Clock, 'monotonic' | 'turn'>) {
    this.clock = clock;
    this.ends = clock.monotonic() + SLICE_MS;
  }

  isOver(): boolean {
    return this.clock.monotonic() >= this.ends;
  }

  /** Lets everything else run, and begins the next slice. */
  async yield(): Promise<void> {
    const { clock } = this;
    const enough = clock.monotonic() + BETWEEN_MS;
    for (let i = 0; i < TURNS_BETWEEN && clock.monotonic() < enough; i++) await clock.turn();
    this.ends = clock.monotonic() + SLICE_MS;
  }
}

/** For work in one piece: its clock stands still, so it is never over. */
export const endlessSlice = new TimeSlice({ monotonic: () => 0, turn: async () => {} });
