/**
 * JSON whose integers never lose a digit.
 *
 * Reading: an integer literal beyond ±(2^53−1) becomes a `bigint`, everything else is what
 * JSON.parse gives. The reviver that sees the source text costs about five times a plain parse,
 * so it only runs when the text holds sixteen digits in a row.
 * Writing: a `bigint` is printed as a bare integer.
 */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

/** An object whose fields have not been looked at yet. */
export type JsonObject = Record<string, unknown>;

interface RawJson {
  readonly rawJSON: string;
}

// Both are part of Node 22's JSON, but not yet of the compiler's library.
const native = JSON as unknown as {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawJson;
};

const MAYBE_BIG = /\d{16}/;
const INTEGER = /^-?\d+$/;

/** Throws SyntaxError on malformed text and RangeError on absurd nesting. */
export function parse(text: string): unknown {
  if (!MAYBE_BIG.test(text)) return JSON.parse(text);
  return native.parse(text, (_key, value, context) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    const source = context.source;
    return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
  });
}

/** The JSON form of an i64: a plain number where that is exact, else the exact digits. */
export function integer(value: bigint): number | RawJson {
  return value >= -9007199254740991n && value <= 9007199254740991n
    ? Number(value)
    : native.rawJSON(value.toString());
}

/** Prints any JSON value; stray `bigint`s become bare integers. */
export function stringify(value: unknown, indent?: number): string {
  return JSON.stringify(value, bare, indent);
}

function bare(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? integer(value) : value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
