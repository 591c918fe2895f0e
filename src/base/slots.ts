/** Limits how many pieces of work run at a time; the rest waits in order. */
export interface Slots {
  /** Resolves when there is a place, with the function that gives it back. */
  take(): Promise<() => void>;
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
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => void line.push(resolve));
      let given = false;
      return () => {
        if (given) return;
        given = true;
        release();
      };
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
