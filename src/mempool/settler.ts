/**
 * Judges entries in doubt (unsettled.ts) on each head.
 *
 * Invariants: an entry in doubt is judged together with those before it, on one overlay of the head;
 * it leaves only after several heads have refused it. The work for each head is bounded.
 */
import type { ApiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { refusalFrom } from '../codec/refusal.ts';
import type { Departures } from './departures.ts';
import type { PoolEntry } from './entry.ts';
import type { EntriesTogether, EntryTrial } from './entry-trial.ts';
import type { Entries } from './pool-entries.ts';
import type { Unsettled } from './unsettled.ts';

export interface SettlerPorts {
  readonly clock: Clock;
  readonly entries: Entries;
  readonly unsettled: Unsettled;
  readonly trial: EntryTrial;
  readonly departures: Departures;
}

/** The number of entries that are judged on one head. */
const JUDGED_MAX = 2_000;
/** The number of heads that refuse an entry before it leaves: lost funds may come back meanwhile. */
const REFUSALS_MAX = 5;

export interface Settler {
  /** Judges on the current head; called for each head. Resolves when that is done. */
  settle(): Promise<void>;
}

export function createSettler(ports: SettlerPorts): Settler {
  const { clock, entries, unsettled, trial, departures } = ports;
  const refusals = new WeakMap<PoolEntry, number>();
  let running: Promise<void> | undefined;
  let isDue = false;

  async function judgeAll(): Promise<void> {
    while (isDue) {
      isDue = false;
      await judge(trial.together());
    }
  }

  async function judge(together: EntriesTogether): Promise<void> {
    const turns = createTurns(clock);
    const early: PoolEntry[] = [];
    for (const entry of [...unsettled.entries()].slice(0, JUDGED_MAX)) {
      if (turns.due()) await turns.take();
      if (!together.isCurrent()) return;
      if (tryOne(entry, together) !== undefined) early.push(entry);
    }
    // What the journal held at a crash may be in another order than it was in the chain.
    for (const entry of early) {
      if (turns.due()) await turns.take();
      if (!together.isCurrent()) return;
      const error = tryOne(entry, together);
      if (error === undefined) unsettled.moveLast(entry);
      else refuse(entry, error);
    }
  }

  function tryOne(entry: PoolEntry, together: EntriesTogether): ApiError | undefined {
    if (entry.removed || !unsettled.has(entry)) return undefined;
    try {
      entries.respend(entry, together.tryApply(entry));
    } catch (error) {
      return refusalFrom(error);
    }
    refusals.delete(entry);
    // A returned entry is announced as soon as it is valid without the others.
    if (!entry.announced && trial.problemOf(entry) === undefined) entries.announce(entry);
    return undefined;
  }

  function refuse(entry: PoolEntry, error: ApiError): void {
    if (entry.removed) return;
    const count = 1 + (refusals.get(entry) ?? 0);
    refusals.set(entry, count);
    if (count >= REFUSALS_MAX) departures.leave(entry, error);
  }

  return {
    settle() {
      isDue = unsettled.size > 0;
      running ??= judgeAll().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}
