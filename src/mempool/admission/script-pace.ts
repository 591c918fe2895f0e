/**
 * The pace of the scripts of arriving transactions. A script can take a hundred milliseconds, and
 * many can arrive together. So after a piece of scripts the event loop has a rest from them that is
 * as long, and transactions that have a script to run wait in line. Others do not wait. This is no
 * TimeSlice, since an attempt is synchronous until it has to wait, and the rest is as long as the work.
 */
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports.ts';
import type { ScriptTime } from '../../chain/apply/script-time.ts';

/** Scripts run one after the other up to this time. */
const PIECE_MS = 2;
/** Transactions in line; the next one is refused. */
export const SCRIPTS_WAITING_MAX = 100;
/** Those of one sender, so that no account keeps others out alone. */
export const SENDER_WAITING_MAX = 10;

/** Tries a transaction. `runScript` throws where the transaction has to wait. */
export type Attempt<T> = (runScript: ScriptTime['run']) => T;

export interface ScriptPace {
  /**
   * The outcome of the attempt: at once, or a promise of the last of several where it had to wait.
   * An attempt that throws must leave nothing behind. `sender` is an address as Latin-1 text. Throws
   * what the attempt throws, and ApiError Overloaded. Few transactions run scripts, so the others
   * cost no promise.
   */
  pass<T>(sender: string, attempt: Attempt<T>): T | Promise<T>;
}

export function createScriptPace(clock: Pick<Clock, 'monotonic' | 'after'>): ScriptPace {
  /** Empty unless scripts rest. */
  const waiting: { readonly sender: string; readonly goOn: () => void }[] = [];
  /** Places in line by sender; absent: none. */
  const places = new Map<string, number>();
  let spentMs = 0;
  let isResting = false;
  /** Of the attempt that runs now, or ran last. */
  let mustWait = false;
  let hasBegun = false;

  function run(script: () => void): void {
    const from = clock.monotonic();
    try {
      script();
    } finally {
      spentMs += clock.monotonic() - from;
    }
  }

  function restIfDue(): void {
    if (isResting || spentMs < PIECE_MS) return;
    isResting = true;
    clock.after(spentMs, goOn);
    spentMs = 0;
  }

  function goOn(): void {
    isResting = false;
    while (!isResting) {
      const next = waiting.shift();
      if (next === undefined) return;
      count(next.sender, -1);
      next.goOn();
    }
  }

  function count(sender: string, change: 1 | -1): void {
    const left = (places.get(sender) ?? 0) + change;
    if (left === 0) places.delete(sender);
    else places.set(sender, left);
  }

  const hasPlace = (sender: string): boolean =>
    waiting.length < SCRIPTS_WAITING_MAX && (places.get(sender) ?? 0) < SENDER_WAITING_MAX;

  function runScript(script: () => void): void {
    // A transaction with several scripts is not cut in the middle.
    mustWait = isResting && !hasBegun;
    if (mustWait) throw apiError('Overloaded');
    hasBegun = true;
    run(script);
  }

  function pass<T>(sender: string, attempt: Attempt<T>): T | Promise<T> {
    mustWait = false;
    hasBegun = false;
    try {
      return attempt(runScript);
    } catch (error) {
      if (!mustWait || !hasPlace(sender)) throw error;
    } finally {
      restIfDue();
    }
    return new Promise((resolve, reject) => {
      count(sender, 1);
      const goOn = (): void => {
        try {
          resolve(pass(sender, attempt));
        } catch (error) {
          reject(error);
        }
      };
      waiting.push({ sender, goOn });
    });
  }

  return { pass };
}
