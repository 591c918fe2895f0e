/**
 * Virtual time: a heap of events in the order of (time, sequence). A step is one event and all work
 * that it causes. Since nothing waits for the real world, the order follows from the seed.
 */
import type { Clock } from '../../../src/base/ports/clock.ts';

interface Event {
  readonly at: number;
  readonly sequence: number;
  readonly action: () => void;
  cancelled: boolean;
}

export class World {
  now: number;
  steps = 0;
  private sequence = 0;
  private readonly heap: Event[] = [];

  constructor(now: number) {
    this.now = now;
  }

  /** Gives the way to cancel it. */
  after(ms: number, action: () => void): () => void {
    // An event of 0 ms still lets time pass, or two that set each other would never end.
    const at = this.now + Math.max(1, Math.ceil(ms));
    const event = { at, sequence: this.sequence++, action, cancelled: false };
    this.push(event);
    return () => {
      event.cancelled = true;
    };
  }

  async runUntil(time: number): Promise<void> {
    await settled();
    for (let next = this.heap[0]; next !== undefined && next.at <= time; next = this.heap[0]) {
      this.pop();
      if (next.cancelled) continue;
      this.now = next.at;
      this.steps++;
      next.action();
      await settled();
    }
    this.now = time;
  }

  private push(event: Event): void {
    const { heap } = this;
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (isBefore(heap[parent]!, event)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = event;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}

const isBefore = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.sequence < b.sequence);

/** No node in here waits for the outside, so one turn of the event loop drains all promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The clock of one node; a dead node's timers do nothing. */
export interface NodeClock extends Clock {
  /** From now on it is so far ahead of the world, and gains that much more in every millisecond. */
  set(aheadMs: number, gain?: number): void;
  /** Milliseconds since it was set. */
  age(): number;
  /** Whether the time source answers. */
  trust(isTrusted: boolean): void;
  kill(): void;
}

export function nodeClock(world: World, aheadMs: number): NodeClock {
  let alive = true;
  let ahead = aheadMs;
  let drift = 0;
  let since = world.now;
  let isTrusted = true;
  const now = (): number => Math.floor(world.now + ahead + drift * (world.now - since));
  return {
    now,
    system: now,
    monotonic: () => world.now,
    after: (ms, action) =>
      world.after(ms, () => {
        if (alive) action();
      }),
    turn: () => Promise.resolve(),
    synchronized: () => isTrusted,
    set(ms, gain = 0) {
      ahead = ms;
      drift = gain;
      since = world.now;
    },
    age: () => world.now - since,
    trust(trusted) {
      isTrusted = trusted;
    },
    kill() {
      alive = false;
    },
  };
}
