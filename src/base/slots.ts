import type { Clock } from './ports.ts';

/** Limits how many pieces of work run at a time; the rest waits in order. */
export interface Slots {
  /** Resolves when there is a place, with the function that gives it back. */
  take(): Promise<() => void>;
  /** The same; undefined where there is no place within so much time. */
  takeWithin(clock: Pick<Clock, 'after'>, ms: number): Promise<(() => void) | undefined>;
  readonly waiting: number;
}

export function createSlots(count: number): Slots {
  let free = count;
  const line: (() => void)[] = [];
  function release(): void {
    const next = line.shift();
    if (next === undefined) free++;
    else next();
  }
  function place(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      release();
    };
  }
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => void line.push(resolve));
      return place();
    },
    async takeWithin(clock, ms) {
      if (free > 0) {
        free--;
        return place();
      }
      const isMine = await new Promise<boolean>((resolve) => {
        const mine = (): void => {
          cancel();
          resolve(true);
        };
        const cancel = clock.after(ms, () => {
          const at = line.indexOf(mine);
          if (at === -1) return;
          line.splice(at, 1);
          resolve(false);
        });
        line.push(mine);
      });
      return isMine ? place() : undefined;
    },
    get waiting() {
      return line.length;
    },
  };
}

/** Runs at most `max` pieces of work at a time. */
export function atMost(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const slots = createSlots(max);
  return async (work) => {
    const release = await slots.take();
    try {
      return await work();
    } finally {
      release();
    }
  };
}
