/**
 * The part of a round in which atomic transactions with contracts are executed, one after the other
 * and before all single calls (contracts.md#inside-atomic-transactions). What waits does not hold up
 * the rest: the part takes its share of the round at most, and each sender a share of the part.
 */
import type { Clock } from '../base/ports.ts';
import { roundLimits } from '../base/round-limits.ts';
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
  /** False where the miner may add no results any more. */
  readonly maySign: () => boolean;
  /** False for what must not be executed in this block. */
  readonly isDue: (entry: PoolEntry) => boolean;
  /** True for what has failed before: the others of its sender come first. */
  readonly hasFailed: (entry: PoolEntry) => boolean;
  /** True for what gives way to all others. */
  readonly yields: (entry: PoolEntry) => boolean;
  /** The sender with the lowest comes first. */
  readonly lastTurnOf: (sender: string) => number;
}

export const GROUPS_OF_ONE_SHARE = roundLimits.groupsOfOne.value;

/** `deadline`: the time of day at which it ends, whatever still runs. */
export function createGroupPhase(
  entries: readonly PoolEntry[],
  deadline: number,
  ports: GroupPhasePorts,
): GroupPhase {
  const { clock, runGroup, maySign, isDue, yields } = ports;
  const shareMs = (deadline - clock.now()) / GROUPS_OF_ONE_SHARE;
  const usedMs = new Map<string, number>();
  const used = (sender: string): number => usedMs.get(sender) ?? 0;
  let isOver = false;
  let finish = (_now: boolean): void => {};
  const ended = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  const end = (now: boolean): void => {
    isOver = true;
    finish(now);
  };

  const hasShare = ({ sender }: PoolEntry): boolean => used(sender) < shareMs;
  /** All for which the first is true come before the others, and so on. */
  const ranks: readonly ((entry: PoolEntry) => boolean)[] = [
    (entry) => !yields(entry) && hasShare(entry),
    (entry) => !yields(entry),
    hasShare,
    () => true,
  ];

  async function runOne(entry: PoolEntry): Promise<void> {
    const began = clock.monotonic();
    await runGroup(entry, ended);
    usedMs.set(entry.sender, used(entry.sender) + clock.monotonic() - began);
  }

  async function runAll(): Promise<void> {
    const slice = new TimeSlice(clock);
    let waiting = inTurns(entries.filter(isDue), ports);
    for (const mayRun of ranks) {
      const later: PoolEntry[] = [];
      for (const entry of waiting) {
        if (isOver || clock.now() >= deadline || !maySign()) return;
        if (entry.removed) continue;
        // Asked anew each time, since a sender fails, or uses up its share, while others wait.
        if (mayRun(entry)) await runOne(entry);
        else later.push(entry);
        if (slice.isOver()) await slice.yield();
      }
      waiting = later;
    }
  }

  return {
    async run() {
      if (entries.length === 0 || isOver) return;
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

/** Each sender has one, then each a second, and so on; who has waited longest for a turn comes first. */
function inTurns(
  entries: readonly PoolEntry[],
  { hasFailed, lastTurnOf }: GroupPhasePorts,
): readonly PoolEntry[] {
  const counts = new Map<string, number>();
  const places = freshFirst(entries, hasFailed).map((entry) => {
    const turn = counts.get(entry.sender) ?? 0;
    counts.set(entry.sender, turn + 1);
    return { entry, turn, last: lastTurnOf(entry.sender) };
  });
  // Stable, so that the order of the pool decides otherwise.
  places.sort((a, b) => a.turn - b.turn || a.last - b.last);
  return places.map(({ entry }) => entry);
}

function freshFirst(
  entries: readonly PoolEntry[],
  hasFailed: (entry: PoolEntry) => boolean,
): readonly PoolEntry[] {
  const fresh = entries.filter((entry) => !hasFailed(entry));
  return [...fresh, ...entries.filter(hasFailed)];
}
