/**
 * Judges entries in doubt (reorg-candidates.ts) on each head.
 *
 * Invariants: an entry in doubt is judged together with those before it, on one overlay of the head;
 * it leaves only after several heads have refused it, and no head counts on which entries that it may
 * build on had no time. The work for each head is bounded, also that of scripts, and so is the part
 * of one sender while others wait.
 */

import { unlessOurs } from '../../base/assert.ts';
import type { ApiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import { createScriptTime, type ScriptTime } from '../../chain/apply/script-time.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { type EntriesTogether, type EntryTrial, hadNoTime } from '../admission/entry-trial.ts';
import { type Evictions, REFUSALS_MAX } from '../admission/evictions.ts';
import type { PoolEntry } from '../entries/entry.ts';
import type { Entries } from '../entries/pool-entries.ts';
import type { ReorgCandidates } from './reorg-candidates.ts';

export interface RevalidatorDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly entries: Entries;
  readonly candidates: ReorgCandidates;
  readonly trial: EntryTrial;
  readonly evictions: Evictions;
}

/** The number of entries that are judged on one head. */
const JUDGED_MAX = 2_000;
/** The time for the scripts of a sender on one head, before those of all others. */
const SENDER_MS_MAX = 250;

export class Revalidator {
  readonly #deps: RevalidatorDeps;
  readonly #refusals = new WeakMap<PoolEntry, number>();
  #running: Promise<void> | undefined;
  #isDue = false;

  constructor(deps: RevalidatorDeps) {
    this.#deps = deps;
  }

  /** Judges on the current head; called for each head. Resolves when that is done. */
  revalidate(): Promise<void> {
    const { candidates, evictions, log } = this.#deps;
    evictions.nextHead();
    this.#isDue = candidates.size > 0;
    this.#running ??= this.#judgeAll()
      // They are judged on the next head.
      .catch(unlessOurs((why) => log.error('pool.check-failed', { why: String(why) })))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #judgeAll(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      const round = newRound(this.#deps.trial.together(), this.#deps.clock);
      const early = await this.#tryAll(round);
      if (early !== undefined) await this.#tryAgain(early, round);
    }
  }

  /** Those that were not accepted; undefined where the head has moved. */
  async #tryAll(round: Round): Promise<readonly Early[] | undefined> {
    const early: Early[] = [];
    for (const entry of [...this.#deps.candidates.entries()].slice(0, JUDGED_MAX)) {
      if (round.slice.isOver()) await round.slice.yield();
      if (!round.together.isCurrent()) return undefined;
      if (isShareUsedUp(entry, round)) {
        early.push({ entry, error: undefined, isComplete: false });
        round.isComplete = false;
        continue;
      }
      const error = this.#tryOne(entry, round);
      if (error === undefined) continue;
      if (hadNoTime(error)) round.isComplete = false;
      early.push({ entry, error, isComplete: round.isComplete });
    }
    return early;
  }

  /**
   * What the journal held at a crash may be in another order than it was in the chain. And those of
   * a sender whose scripts take long come behind all others.
   */
  async #tryAgain(early: readonly Early[], round: Round): Promise<void> {
    const refused: Refused[] = [];
    let isComplete = true;
    for (const { entry, error, isComplete: wasComplete } of early) {
      if (round.slice.isOver()) await round.slice.yield();
      if (!round.together.isCurrent()) return;
      const again = this.#tryOne(entry, round);
      if (again === undefined) {
        if (error !== undefined) this.#deps.candidates.moveLast(entry);
      } else if (hadNoTime(again)) {
        isComplete = false;
        if (error !== undefined && wasComplete) refused.push({ entry, error });
      } else if (isComplete) refused.push({ entry, error: again });
    }
    // One that had no time may stand behind those that build on it.
    for (const { entry, error } of refused)
      if (isComplete || isOfScript(error)) this.#refuse(entry, error);
  }

  #tryOne(entry: PoolEntry, round: Round): ApiError | undefined {
    if (entry.removed || !this.#deps.candidates.has(entry)) return undefined;
    const { scriptTime, shares } = round;
    const before = scriptTime.spentMs;
    const error = this.#judgeOne(entry, round);
    const ms = scriptTime.spentMs - before;
    if (ms > 0) shares.set(entry.sender, (shares.get(entry.sender) ?? 0) + ms);
    return error;
  }

  #judgeOne(entry: PoolEntry, { together, scriptTime }: Round): ApiError | undefined {
    const { entries, trial } = this.#deps;
    try {
      entries.respend(entry, together.tryApply(entry, scriptTime));
    } catch (cause) {
      return refusalFrom(cause);
    }
    this.#refusals.delete(entry);
    // A returned entry is announced as soon as it is valid without the others.
    if (!entry.announced && trial.problemOf(entry, scriptTime) === undefined) {
      entries.announce(entry);
    }
    return undefined;
  }

  #refuse(entry: PoolEntry, error: ApiError): void {
    if (entry.removed) return;
    const count = 1 + (this.#refusals.get(entry) ?? 0);
    this.#refusals.set(entry, count);
    if (count >= REFUSALS_MAX) this.#deps.evictions.evict(entry, error);
  }
}

/** The entries in doubt on one head. */
interface Round {
  readonly slice: TimeSlice;
  readonly together: EntriesTogether;
  readonly scriptTime: ScriptTime;
  /** What the scripts of a sender have taken, in milliseconds. */
  readonly shares: Map<string, number>;
  /**
   * False once an entry had no time for its scripts. Those behind it may build on it, so that their
   * refusals mean nothing.
   */
  isComplete: boolean;
}

/** An entry that the first attempt has not accepted. */
interface Early {
  readonly entry: PoolEntry;
  /** Undefined where there was no attempt. */
  readonly error: ApiError | undefined;
  /** True where every entry before it had its time. */
  readonly isComplete: boolean;
}

interface Refused {
  readonly entry: PoolEntry;
  readonly error: ApiError;
}

const newRound = (together: EntriesTogether, clock: Clock): Round => ({
  slice: new TimeSlice(clock),
  together,
  scriptTime: createScriptTime(clock),
  shares: new Map(),
  isComplete: true,
});

/** Others shall have their time, whoever stands before them. */
const isShareUsedUp = ({ sender }: PoolEntry, { shares }: Round): boolean =>
  (shares.get(sender) ?? 0) >= SENDER_MS_MAX;

const isOfScript = ({ entry }: ApiError): boolean =>
  entry === 'ScriptDenied' || entry === 'ScriptFailed';
