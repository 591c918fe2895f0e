/**
 * The pace of the scripts of arriving transactions. A script can take a hundred milliseconds, and
 * many can arrive together. So after a piece of scripts the event loop has a rest from them that is
 * as long, and transactions that have a script to run wait in line. Others do not wait. This is no
 * TimeSlice, since an attempt is synchronous until it has to wait, and the rest is as long as the work.
 */
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ScriptTime } from '../../chain/apply/script-time.ts';
import { Counts } from '../../concurrency/counts.ts';

/** Scripts run one after the other up to this time. */
const PIECE_MS = 2;
/** Transactions in line; the next one is refused. */
export const SCRIPTS_WAITING_MAX = 100;
/** Those of one sender, so that no account keeps others out alone. */
export const SENDER_WAITING_MAX = 10;

/** Tries a transaction. `runScript` throws where the transaction has to wait. */
export type Attempt<T> = (runScript: ScriptTime['run']) => T;

export class ScriptPace {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  /** Empty unless scripts rest. */
  readonly #waiting: { readonly sender: string; readonly goOn: () => void }[] = [];
  /** Places in line by sender; absent: none. */
  readonly #places = new Counts<string>();
  #spentMs = 0;
  #isResting = false;
  /** Of the attempt that runs now, or ran last. */
  #mustWait = false;
  #hasBegun = false;

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#clock = clock;
  }

  /**
   * The outcome of the attempt: at once, or a promise of the last of several where it had to wait.
   * An attempt that throws must leave nothing behind. `sender` is an address as Latin-1 text. Throws
   * what the attempt throws, and ApiError Overloaded. Few transactions run scripts, so the others
   * cost no promise.
   */
  pass<T>(sender: string, attempt: Attempt<T>): T | Promise<T> {
    this.#mustWait = false;
    this.#hasBegun = false;
    try {
      return attempt(this.#runScript);
    } catch (error) {
      if (!this.#mustWait || !this.#hasPlace(sender)) throw error;
    } finally {
      this.#restIfDue();
    }
    return new Promise((resolve, reject) => {
      this.#places.add(sender, 1);
      const goOn = (): void => {
        try {
          resolve(this.pass(sender, attempt));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ sender, goOn });
    });
  }

  /** One function for all attempts, which are many. */
  readonly #runScript = (script: () => void): void => {
    // A transaction with several scripts is not cut in the middle.
    this.#mustWait = this.#isResting && !this.#hasBegun;
    if (this.#mustWait) throw apiError('Overloaded');
    this.#hasBegun = true;
    const from = this.#clock.monotonic();
    try {
      script();
    } finally {
      this.#spentMs += this.#clock.monotonic() - from;
    }
  };

  #restIfDue(): void {
    if (this.#isResting || this.#spentMs < PIECE_MS) return;
    this.#isResting = true;
    this.#clock.after(this.#spentMs, () => this.#goOn());
    this.#spentMs = 0;
  }

  #goOn(): void {
    this.#isResting = false;
    while (!this.#isResting) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#places.add(next.sender, -1);
      next.goOn();
    }
  }

  #hasPlace(sender: string): boolean {
    const isRoom = this.#waiting.length < SCRIPTS_WAITING_MAX;
    return isRoom && this.#places.of(sender) < SENDER_WAITING_MAX;
  }
}
