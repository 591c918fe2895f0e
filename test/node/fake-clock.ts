/**
 * A clock that stands still until a test moves it. Timers fire in the order of their times. The
 * work that one causes ends before the next one fires.
 */
import type { Clock } from '../../src/base/ports/clock.ts';

export interface FakeClock extends Clock {
  /** Moves to `time` and fires what is due on the way. */
  advanceTo(time: number): Promise<void>;
  advance(ms: number): Promise<void>;
  /** Whether the time source is trusted; true at first. */
  setSynchronized(synchronized: boolean): void;
  /** How many timers wait. */
  timers(): number;
  /** Sets the time of day forward or back, as a time server may; no timer notices. */
  jump(ms: number): void;
}

interface Timer {
  readonly at: number;
  readonly action: () => void;
}

export function fakeClock(start: number): FakeClock {
  let elapsed = 0;
  let jumped = 0;
  let synchronized = true;
  const timers = new Set<Timer>();

  function nextDue(until: number): Timer | undefined {
    let found: Timer | undefined;
    for (const timer of timers) {
      if (timer.at <= until && (found === undefined || timer.at < found.at)) found = timer;
    }
    return found;
  }

  const now = (): number => start + elapsed + jumped;

  async function advance(ms: number): Promise<void> {
    const until = elapsed + ms;
    await settled();
    for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
      timers.delete(timer);
      elapsed = Math.max(elapsed, timer.at);
      timer.action();
      await settled();
    }
    elapsed = Math.max(elapsed, until);
  }

  return {
    now,
    system: now,
    monotonic: () => elapsed,
    after(ms, action) {
      // A timer of 0 ms still lets time pass, or two that set each other would never end.
      const timer = { at: elapsed + Math.max(1, Math.ceil(ms)), action };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    turn: () => Promise.resolve(),
    synchronized: () => synchronized,
    timers: () => timers.size,
    advanceTo: (time) => advance(time - now()),
    advance,
    jump(ms) {
      jumped += ms;
    },
    setSynchronized(value) {
      synchronized = value;
    },
  };
}

/** Nothing in a node on fake ports waits for the outside, so one turn of the event loop does. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Pace {
  /** The clock stands still from here on. */
  pause(): Promise<void>;
}

/** Lets a clock keep up with the time outside, for tests that talk to a node over HTTP. */
export function keepPace(clock: FakeClock): Pace {
  let isRunning = true;
  async function run(): Promise<void> {
    while (isRunning) {
      await clock.advanceTo(Date.now());
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    }
  }
  const running = run();
  return {
    pause() {
      isRunning = false;
      return running;
    },
  };
}

const PACE_MS = 5;
