/**
 * Judges entries in doubt (unsettled.ts) on each head.
 *
 * Invariants: an entry in doubt is judged together with those before it, on one overlay of the head;
 * it leaves only after several heads have refused it. The work for each head is bounded, also that
 * of scripts.
 */
import type { ApiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { createScriptTime, type ScriptTime } from '../chain/script-time.ts';
import { refusalFrom } from '../codec/refusal.ts';
import type { Departures } from './departures.ts';
import type { PoolEntry } from './entry.ts';
import { type EntriesTogether, type EntryTrial, hadNoTime } from './entry-trial.ts';
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
    const round: Round = { together, scriptTime: createScriptTime(clock), isComplete: true };
    const early: { entry: PoolEntry; error: ApiError; counts: boolean }[] = [];
    for (const entry of [...unsettled.entries()].slice(0, JUDGED_MAX)) {
      if (turns.due()) await turns.take();
      if (!together.isCurrent()) return;
      const error = tryOne(entry, round);
      if (error !== undefined) early.push({ entry, error, counts: round.isComplete });
    }
    // What the journal held at a crash may be in another order than it was in the chain.
    for (const { entry, error, counts } of early) {
      if (turns.due()) await turns.take();
      if (!together.isCurrent()) return;
      const again = tryOne(entry, round);
      if (again === undefined) unsettled.moveLast(entry);
      else if (counts) refuse(entry, hadNoTime(again) ? error : again);
    }
  }

  function tryOne(entry: PoolEntry, round: Round): ApiError | undefined {
    if (entry.removed || !unsettled.has(entry)) return undefined;
    const { together, scriptTime } = round;
    try {
      entries.respend(entry, together.tryApply(entry, scriptTime));
    } catch (cause) {
      const error = refusalFrom(cause);
      if (hadNoTime(error)) round.isComplete = false;
      return error;
    }
    refusals.delete(entry);
    // A returned entry is announced as soon as it is valid without the others.
    if (!entry.announced && trial.problemOf(entry, scriptTime) === undefined) {
      entries.announce(entry);
    }
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

/** The entries in doubt on one head. */
interface Round {
  readonly together: EntriesTogether;
  readonly scriptTime: ScriptTime;
  /**
   * False once an entry had no time for its scripts. Those behind it may build on it, so that their
   * refusals mean nothing.
   */
  isComplete: boolean;
}
