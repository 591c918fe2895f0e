/** Regular expressions of clients against keys: the port, which a thread implements. */

export interface PatternVerdicts {
  /** Instructions of the compiled pattern: each character of a key may take as many steps. */
  readonly size: number;
  /** In the order of the keys. */
  readonly verdicts: readonly boolean[];
}

export interface Patterns {
  /** Rejects with ApiError where the pattern is bad, takes too long, or too many wait. */
  match(pattern: string, keys: readonly string[], client: string): Promise<PatternVerdicts>;
}

/** Selects keys; rejects with ApiError AnswerTooBig once all keys have taken too much work. */
export type KeyFilter = (keys: readonly string[]) => Promise<readonly boolean[]>;

export interface KeyFilters {
  /**
   * `client`: whose work it is. Rejects with ApiError BadKeyFilter where the pattern is malformed or
   * too expensive.
   */
  open(pattern: string, client: string): Promise<KeyFilter>;
  /**
   * Runs work whose answer is in memory; a few at a time, those of different clients in turn. Rejects
   * with ApiError Overloaded where too many wait, of the client or of all.
   */
  inTurn<T>(client: string, work: () => Promise<T>): Promise<T>;
}

/** Keys that are matched in one go. */
export const KEYS_AT_ONCE = 100;

/** The items in lists of this length; the last may be shorter. */
export function* listsOf<T>(items: Iterable<T>, length: number): Generator<T[]> {
  let list: T[] = [];
  for (const item of items) {
    list.push(item);
    if (list.length < length) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}
