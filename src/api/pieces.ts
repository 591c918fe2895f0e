/**
 * Long JSON answers as pieces of text: between two of them everything else in the event loop may
 * have its turn. `undefined` is a piece without text, from work that has nothing to show yet.
 */
import { print } from './answer.ts';
import type { Services } from './services.ts';

export type Pieces = Iterable<string | undefined>;

/**
 * An answer that is made piece by piece from one state of the chain: `make` gets services whose
 * reads show that state until the answer is complete.
 */
export class LongAnswer {
  readonly make: (services: Services) => Pieces;

  constructor(make: (services: Services) => Pieces) {
    this.make = make;
  }
}

export const inTurns = (make: (services: Services) => Pieces): LongAnswer => new LongAnswer(make);

/** A list of what `show` makes of the items; undefined ones are passed over. */
export function* listOf<T>(
  items: Iterable<T | undefined>,
  show: (item: T) => unknown,
): Generator<string | undefined> {
  let before = '[';
  for (const item of items) {
    if (item === undefined) yield undefined;
    else {
      yield before + print(show(item));
      before = ',';
    }
  }
  yield before === '[' ? '[]' : ']';
}

/** A list of values that are pieces themselves; undefined ones are passed over. */
export function* joined(values: Iterable<Pieces | undefined>): Generator<string | undefined> {
  let before = '[';
  for (const value of values) {
    yield value && before;
    if (value === undefined) continue;
    yield* value;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** An object of members whose values are pieces themselves. */
export function* objectOf(
  members: Iterable<readonly [name: string, value: Pieces]>,
): Generator<string | undefined> {
  let before = '{';
  for (const [name, value] of members) {
    yield `${before}${print(name)}:`;
    yield* value;
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** An object that is printed at once but for its last member. */
export function* endingWith(
  object: Readonly<Record<string, unknown>>,
  name: string,
  value: Pieces,
): Generator<string | undefined> {
  const start = print(object).slice(0, -1);
  yield `${start}${start === '{' ? '' : ','}${print(name)}:`;
  yield* value;
  yield '}';
}

/** `map` without a list in between. */
export function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item);
}
