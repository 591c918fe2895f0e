/** Places for work of which only so much may run at a time; the rest waits in its order. */
export interface Slots {
  /** Resolves with the way to give the place back. */
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

/** Runs at most `max` of the given works at a time. */
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
