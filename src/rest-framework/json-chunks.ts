/**
 * Long JSON answers as chunks of text. Between two chunks the rest of the event loop may run.
 * `undefined` is a chunk without text, from work that has no result yet.
 */

import { print } from './answer.ts';

export type JsonChunks = Iterable<string | undefined>;

/**
 * An answer that is made chunk by chunk from one state. `make` gets services that read this state
 * until the answer is complete.
 */
export class StreamedAnswer<S> {
  readonly make: (services: S) => JsonChunks;

  constructor(make: (services: S) => JsonChunks) {
    this.make = make;
  }
}

export const streamed = <S>(make: (services: S) => JsonChunks): StreamedAnswer<S> =>
  new StreamedAnswer(make);

/** A list of the results of `show`; undefined results are left out. */
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

/** A list of values that have been printed. */
export function* textsOf(items: Iterable<string>): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before + item;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** A list of values that are chunks themselves; undefined ones are left out. */
export function* joined(values: Iterable<JsonChunks | undefined>): Generator<string | undefined> {
  let before = '[';
  for (const value of values) {
    yield value && before;
    if (value === undefined) continue;
    yield* value;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** An object of members whose values are chunks themselves. */
export function* objectOf(
  members: Iterable<readonly [name: string, value: JsonChunks]>,
): Generator<string | undefined> {
  let before = '{';
  for (const [name, value] of members) {
    yield `${before}${print(name)}:`;
    yield* value;
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** An object that is printed at once, except for its last member. */
export function* endingWith(
  object: Readonly<Record<string, unknown>>,
  name: string,
  value: JsonChunks,
): Generator<string | undefined> {
  const start = print(object).slice(0, -1);
  yield `${start}${start === '{' ? '' : ','}${print(name)}:`;
  yield* value;
  yield '}';
}

/** `map` without an array in between. */
export function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item);
}
