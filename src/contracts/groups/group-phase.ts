/**
 * The part of a round in which atomic transactions with contracts are executed, one after the other
 * and before all single calls (contracts.md#inside-atomic-transactions). What waits does not hold up
 * the rest: the part takes its share of the round at most, and each sender a share of the part.
 */
import { roundLimits } from '../../base/limits/round-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';

export interface GroupPhase {
  /** Resolves when nothing more can be executed, or at the deadline. */
  run(): Promise<void>;
  /** Ends it; what still runs ends at once. */
  end(): void;
}

export interface GroupPhasePorts {
  readonly clock: Clock;
  /** `ended` resolves when the part is over, true where it was ended. */
  readonly runGroup: (entry: PoolEntry, ended: Promise<boolean>) => Promise<void>;
  /** False where the miner may add no results any more. */
  readonly maySign: () => boolean;
  /** False for what must not be executed in this block. */
  readonly isDue: (entry: PoolEntry) => boolean;
  /** One that has to be executed before this one, as long as that may happen in this part. */
  readonly before: (entry: PoolEntry) => PoolEntry | undefined;
  /** True for what has failed before: what owes as little, and has not, comes first. */
  readonly hasFailed: (entry: PoolEntry) => boolean;
  /** Milliseconds for which its sender, or the creator of one of its contracts, answers. */
  readonly debtOf: (entry: PoolEntry) => number;
  /** The lowest comes first. */
  readonly lastTurnOf: (entry: PoolEntry) => number;
  /** Milliseconds that have been wasted in this part and in the one before. */
  readonly wastedMs: () => number;
  /** True for a sender that has had a success, and wasted nothing since. */
  readonly isProven: (sender: string) => boolean;
}

/** Debts that differ by less are equal, so that trifles do not decide. */
export const DEBT_STEP_MS = 50;
export const GROUPS_OF_ONE_SHARE = roundLimits.groupsOfOne.value;
export const WASTED_SHARE = roundLimits.groupsWasted.value;

/** `deadline`: the time of day at which it ends, whatever still runs. */
export function createGroupPhase(
  entries: readonly PoolEntry[],
  deadline: number,
  ports: GroupPhasePorts,
): GroupPhase {
  const { clock, runGroup, maySign, isDue, before, hasFailed, debtOf, wastedMs, isProven } = ports;
  const partMs = deadline - clock.now();
  const shareMs = partMs / GROUPS_OF_ONE_SHARE;
  const usedMs = new Map<string, number>();
  const used = (sender: string): number => usedMs.get(sender) ?? 0;
  let isOver = false;
  const { promise: ended, resolve } = Promise.withResolvers<boolean>();
  const finish = (now: boolean): void => {
    isOver = true;
    resolve(now);
  };

  const hasShare = ({ sender }: PoolEntry): boolean => used(sender) < shareMs;
  const isCrowded = (): boolean => wastedMs() >= partMs / WASTED_SHARE;
  /** Accounts cost nothing, but a success has paid a fee. */
  const isDoubtful = ({ sender }: PoolEntry): boolean => isCrowded() && !isProven(sender);
  /** The lowest comes first; during the part it rises, but for a sender that has a success. */
  const rankOf = (entry: PoolEntry): number =>
    8 * Math.floor(debtOf(entry) / DEBT_STEP_MS) +
    (isDoubtful(entry) ? 4 : 0) +
    (hasFailed(entry) ? 2 : 0) +
    (hasShare(entry) ? 0 : 1);

  async function runOne(entry: PoolEntry): Promise<void> {
    const began = clock.monotonic();
    await runGroup(entry, ended);
    usedMs.set(entry.sender, used(entry.sender) + clock.monotonic() - began);
  }

  async function runAll(): Promise<void> {
    const slice = new TimeSlice(clock);
    const turns = createTurns(inTurns(entries.filter(isDue), ports), rankOf, before);
    for (let next = turns.take(); next !== undefined; next = turns.take()) {
      if (isOver || clock.now() >= deadline || !maySign()) return;
      if (next !== 'later') {
        await runOne(next);
        turns.leave(next);
      }
      if (slice.isOver()) await slice.yield();
    }
  }

  return {
    async run() {
      if (entries.length === 0 || isOver) return;
      const cancel = clock.after(deadline - clock.now(), () => finish(false));
      try {
        await runAll();
      } finally {
        cancel();
        finish(false);
      }
    },
    end: () => finish(true),
  };
}

interface Turns {
  /** The next one; `later`: that is not known yet, so ask again. Undefined where none is left. */
  take(): PoolEntry | 'later' | undefined;
  /** It has had its turn: those behind it may come. */
  leave(entry: PoolEntry): void;
}

/**
 * An entry that others stand behind has the best rank of theirs: debts of its sender would else hold up
 * the others.
 */
function createTurns(
  entries: readonly PoolEntry[],
  rankOf: (entry: PoolEntry) => number,
  before: GroupPhasePorts['before'],
): Turns {
  const waiting = new Ranks();
  const due = new Set(entries);
  const behind = new Map<PoolEntry, PoolEntry[]>();
  const lent = new Map<PoolEntry, number>();
  for (const entry of entries) waiting.add(entry, rankOf(entry));

  function putBehind(first: PoolEntry, entry: PoolEntry, rank: number): void {
    due.delete(entry);
    const others = behind.get(first);
    if (others === undefined) behind.set(first, [entry]);
    else others.push(entry);
    if (!due.has(first)) return;
    lent.set(first, Math.min(rank, lent.get(first) ?? rank));
    waiting.add(first, rank);
  }

  function leave(entry: PoolEntry): void {
    due.delete(entry);
    for (const other of behind.get(entry) ?? []) {
      due.add(other);
      waiting.add(other, rankOf(other));
    }
    behind.delete(entry);
  }

  return {
    take() {
      const next = waiting.take();
      if (next === undefined) return undefined;
      const { entry, rank } = next;
      if (!due.has(entry)) return 'later';
      if (entry.removed) {
        leave(entry);
        return 'later';
      }
      const first = before(entry);
      // Asked anew, since a sender wastes time, or uses up its share, while others wait.
      const now = Math.min(rankOf(entry), lent.get(entry) ?? Number.POSITIVE_INFINITY);
      if (first !== undefined) putBehind(first, entry, rank);
      else if (now > rank) waiting.add(entry, now);
      else return entry;
      return 'later';
    },
    leave,
  };
}

/** In each rank the order in which they were added. */
class Ranks {
  private readonly lists = new Map<number, { readonly entries: PoolEntry[]; at: number }>();

  add(entry: PoolEntry, rank: number): void {
    const list = this.lists.get(rank);
    if (list === undefined) this.lists.set(rank, { entries: [entry], at: 0 });
    else list.entries.push(entry);
  }

  take(): { readonly entry: PoolEntry; readonly rank: number } | undefined {
    let rank = Number.POSITIVE_INFINITY;
    for (const one of this.lists.keys()) rank = Math.min(rank, one);
    const list = this.lists.get(rank);
    if (list === undefined) return undefined;
    const entry = list.entries[list.at++]!;
    if (list.at === list.entries.length) this.lists.delete(rank);
    return { entry, rank };
  }
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
    return { entry, turn, last: lastTurnOf(entry) };
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
