/**
 * Regular expressions of clients (`matches`), matched in linear time by re2js. The runtime's own
 * engine backtracks, so a pattern of a few characters could block the main thread for hours.
 *
 * A counted repetition costs as much as its body written that many times, and nested repetitions
 * multiply. So the length of the pattern by the product of all its counts is limited before it is
 * compiled. The first match with a key takes time in proportion to the instructions of the compiled
 * pattern, for each character of the key. So they are limited too; above that, a thread matches
 * (adapters/threads/pattern-thread.ts), and is ended where it takes too long.
 */
import type { RE2JS as Engine } from 're2js';
import { apiError } from '../base/errors.ts';
import { contractLimits } from '../base/limits/contract-limits.ts';
import type { Patterns } from '../base/ports/patterns.ts';

const PATTERN_CHARS_MAX = contractLimits.pattern.value;
/** Characters of the pattern by the product of its counts. */
const WRITTEN_MAX = contractLimits.patternWritten.value;
const INSTRUCTIONS_MAX = contractLimits.patternSize.value;
/**
 * Matches keys here and now. Rejects with ApiError BadKeyFilter where the pattern is malformed, needs
 * backtracking (back references, look-around), or is too expensive.
 */
export const patternsHere: Patterns = {
  async match(pattern, keys) {
    const compiled = compiledBefore(pattern) ?? (await checked(pattern));
    last = { pattern, compiled };
    return {
      size: compiled.programSize(),
      verdicts: keys.map((key) => compiled.matches(key)),
    };
  },
};

/** The keys of a request come in several lists. */
let last: { readonly pattern: string; readonly compiled: Engine } | undefined;

const compiledBefore = (pattern: string): Engine | undefined =>
  last?.pattern === pattern ? last.compiled : undefined;

async function checked(pattern: string): Promise<Engine> {
  const compiled = isCheap(pattern) ? await compile(pattern) : undefined;
  if (compiled !== undefined) return compiled;
  throw apiError('BadKeyFilter', pattern.slice(0, PATTERN_CHARS_MAX));
}

let engine: typeof Engine | undefined;

/**
 * Compiling takes up to 30 ms. Once the engine is there, it happens during the call: whatever comes
 * after waiting happens for all that wait in one turn.
 */
async function compile(pattern: string): Promise<Engine | undefined> {
  engine ??= (await import('./regular-expression.ts')).RE2JS;
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
