/**
 * Regular expressions of clients (`matches`), matched in linear time by re2js. The runtime's own
 * engine backtracks, so a pattern of a few characters could block the main thread for hours.
 *
 * A counted repetition costs as much as its body written that many times, and nested repetitions
 * multiply. So the length of the pattern by the product of all its counts is limited before it is
 * compiled. The first match with a key takes time in proportion to the instructions of the compiled
 * pattern, for each character of the key. So they are limited too: nothing can interrupt a match.
 */
import type { RE2JS } from 're2js';
import { apiError } from '../base/errors.ts';

const PATTERN_CHARS_MAX = 500;
/** Characters of the pattern by the product of its counts. */
const WRITTEN_MAX = 50_000;
/** A key of the greatest length takes 20 ms at most. */
const INSTRUCTIONS_MAX = 1000;
/**
 * Characters of all keys of a request, each multiplied by the instructions of the pattern: seconds
 * of work.
 */
const WORK_MAX = 200_000_000;

/**
 * A filter that accepts a key where the pattern matches all of it. Rejects with ApiError
 * BadKeyFilter where the pattern is malformed, needs backtracking (back references, look-around),
 * or is too expensive. The filter itself throws ApiError AnswerTooBig once all keys together have
 * taken too much work.
 */
export async function keyFilter(pattern: string): Promise<(key: string) => boolean> {
  const compiled = isCheap(pattern) ? await compile(pattern) : undefined;
  if (compiled === undefined) throw apiError('BadKeyFilter', pattern.slice(0, PATTERN_CHARS_MAX));
  const size = compiled.programSize();
  let left = WORK_MAX;
  return (key) => {
    left -= key.length * size;
    if (left < 0) throw apiError('AnswerTooBig', 'so many keys against such a pattern');
    return compiled.matches(key);
  };
}

async function compile(pattern: string): Promise<RE2JS | undefined> {
  // The package takes 30 ms to load, and most nodes never need it.
  const { RE2JS: engine } = await import('re2js');
  try {
    const compiled = engine.compile(pattern);
    return compiled.programSize() <= INSTRUCTIONS_MAX ? compiled : undefined;
  } catch {
    return undefined;
  }
}

const isCheap = (pattern: string): boolean =>
  pattern.length <= PATTERN_CHARS_MAX && pattern.length * repetitionsOf(pattern) <= WRITTEN_MAX;

/** The product of all counts. */
function repetitionsOf(pattern: string): number {
  let repetitions = 1;
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    repetitions *= Math.max(1, Number(least), Number(most ?? 0));
  }
  return repetitions;
}
