/**
 * The part of a round in which atomic transactions with contracts are executed, one after the other
 * and before all single calls (contracts.md#inside-atomic-transactions). What waits does not hold up
 * the rest: the part takes its share of the round at most.
 */
import type { Clock } from '../base/ports.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { PoolEntry } from '../mempool/entries/entry.ts';

export interface GroupPhase {
  /** Resolves when nothing more can be executed, or at the deadline. */
  run(): Promise<void>;
  /** Ends it; with `now`, what still runs ends at once. */
  end(now: boolean): void;
}

export interface GroupPhasePorts {
  readonly clock: Clock;
  /** `ended` resolves when the part is over, with the `now` of `end`. */
  readonly runGroup: (entry: PoolEntry, ended: Promise<boolean>) => Promise<void>;
  /** False for what must not be executed in this block. */
  readonly isDue: (entry: PoolEntry) => boolean;
  /** True for what gives way to the others. */
  readonly yields: (entry: PoolEntry) => boolean;
}

/** `deadline`: the time of day at which it ends, whatever still runs. */
export function createGroupPhase(
  entries: readonly PoolEntry[],
  deadline: number,
  { clock, runGroup, isDue, yields }: GroupPhasePorts,
): GroupPhase {
  let isOver = false;
  let finish = (_now: boolean): void => {};
  const ended = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  const end = (now: boolean): void => {
    isOver = true;
    finish(now);
  };

  async function runAll(): Promise<void> {
    const slice = new TimeSlice(clock);
    for (const entry of inTurns(entries.filter(isDue), yields)) {
      if (isOver || clock.now() >= deadline) return;
      if (!entry.removed) await runGroup(entry, ended);
      if (slice.isOver()) await slice.yield();
    }
  }

  return {
    async run() {
      if (entries.length === 0) return;
      const cancel = clock.after(deadline - clock.now(), () => end(false));
      try {
        await runAll();
      } finally {
        cancel();
        end(false);
      }
    },
    end,
  };
}

/** Those that have failed come last; before that, each sender has one, then each a second, and so on. */
function inTurns(
  entries: readonly PoolEntry[],
  yields: (entry: PoolEntry) => boolean,
): readonly PoolEntry[] {
  const counts = new Map<string, number>();
  const places = entries.map((entry) => {
    const turn = counts.get(entry.sender) ?? 0;
    counts.set(entry.sender, turn + 1);
    return { entry, turn, isLast: yields(entry) };
  });
  // Stable, so that the order of the pool decides otherwise.
  places.sort((a, b) => Number(a.isLast) - Number(b.isLast) || a.turn - b.turn);
  return places.map(({ entry }) => entry);
}
