/**
 * JSON whose integers never lose a digit.
 *
 * Reading: an integer literal beyond ±(2^53−1), with or without `.0`, becomes a `bigint`, everything
 * else is what JSON.parse gives. JSON.parse reads all texts without sixteen digits in a row.
 * `json-exact.ts` reads the others, because JSON.parse with a reviver takes a microsecond for every
 * value. Both take time in proportion to the text and refuse values nested deeper than `DEPTH_MAX`.
 * Writing: a `bigint` is printed as a bare integer.
 */
import { withoutStack } from '../faults/expected-error.ts';
import { parseExactly, TooManyValues } from './json-exact.ts';

export { TooManyValues };

export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

/** An object whose members have not been checked yet. */
export type JsonObject = Record<string, unknown>;

export interface RawJson {
  readonly rawJSON: string;
}

// Part of Node 22's JSON, but not yet of the compiler's library.
const native = JSON as unknown as { rawJSON(text: string): RawJson };

const MAYBE_BIG = /\d{16}/;

/** No valid input of the node is nested this deep. */
export const DEPTH_MAX = 100;
/** A shorter text holds too few values to cost much, so frequent short texts skip the count. */
const SHORT_CHARS = 4096;

/**
 * `valuesMax`: the most values that the text may hold, including lists and objects. A text with
 * more is refused before it is parsed. Throws TooManyValues, and SyntaxError on malformed text and
 * on values nested too deep.
 */
export function parse(text: string, valuesMax = Number.POSITIVE_INFINITY): unknown {
  if (MAYBE_BIG.test(text)) return parseExactly(text, DEPTH_MAX, valuesMax);
  if (text.length > SHORT_CHARS) checkShape(text, valuesMax);
  return withoutStack(() => JSON.parse(text) as unknown);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Throws where brackets are nested deeper than `DEPTH_MAX` or commas and brackets make more than
 * `valuesMax` values; malformed text may pass or not.
 */
function checkShape(text: string, valuesMax: number): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) {
        if (text.charCodeAt(at) === BACKSLASH) at++;
      }
    } else if ((code | 0x20) === 0x7b) {
      if (++depth > DEPTH_MAX) throw new SyntaxError('JSON: nested too deep');
      if (++values > valuesMax) throw new TooManyValues(valuesMax);
    } else if ((code | 0x20) === 0x7d) depth--;
    else if (code === COMMA && ++values > valuesMax) throw new TooManyValues(valuesMax);
  }
}

/** The JSON form of an i64: a plain number where that is exact, else all digits. */
export function integer(value: bigint): number | RawJson {
  return value >= -9007199254740991n && value <= 9007199254740991n
    ? Number(value)
    : native.rawJSON(value.toString());
}

/** Prints any JSON value; each `bigint` becomes a bare integer. */
export function stringify(value: unknown, indent?: number): string {
  return JSON.stringify(value, bare, indent);
}

function bare(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? integer(value) : value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
