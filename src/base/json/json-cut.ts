/**
 * Takes one long text out of JSON before the JSON is parsed. Otherwise a text of many megabytes
 * would be copied twice: into the string of the whole body, and into its own string.
 */
export interface Cut {
  /** The bytes between the quotes, a view of the input. */
  readonly text: Uint8Array;
  /** True where the text has escapes; unescapeText removes them. */
  readonly isEscaped: boolean;
  /** The JSON with an empty text in place of the long one. */
  readonly rest: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
/** Only this bit differs between a brace and a bracket. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** The JSON is large even without the long text. */
export class RestTooLong extends Error {
  override name = 'RestTooLong';
}

/** The long text has so many escaped quotes or backslashes that it cannot be plain. */
export class TooManyEscapes extends Error {
  override name = 'TooManyEscapes';
}

/**
 * Escaped quotes and backslashes before quotes. Each is examined separately, and Base64 has none.
 */
const ESCAPES_MAX = 1000;

/**
 * The text of the last member with this name in the outermost object; undefined where there is none.
 * Malformed JSON stays malformed, and a text without end is a SyntaxError. Throws RestTooLong as soon
 * as more than `restMax` bytes are something else, and TooManyEscapes.
 */
export function cutText(json: Uint8Array, name: string, restMax: number): Cut | undefined {
  const input = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let depth = 0;
  let found: readonly [start: number, end: number] | undefined;
  let isValue: boolean = false;
  /** Bytes of the values with that name. */
  let named = 0;
  for (let at = 0; at < input.length; at++) {
    if (at - named > restMax) throw new RestTooLong();
    const byte = input[at]!;
    if (byte === QUOTE) {
      const isNamed: boolean = depth === 1 && isValue;
      const end: number = isNamed
        ? endOfText(input, at + 1, ESCAPES_MAX, TooManyEscapes)
        : endOfText(input, at + 1, restMax / 2, RestTooLong);
      if (isNamed) {
        found = [at + 1, end];
        named += end - at;
      }
      isValue = depth === 1 && isName(input, at + 1, end, name);
      at = end;
    } else if (byte === COLON || byte <= SPACE) {
      // Between a name and its value.
    } else {
      isValue = false;
      if ((byte | BRACE) === OPENING) depth++;
      else if ((byte | BRACE) === CLOSING) depth--;
    }
  }
  const [start, end] = found ?? [0, 0];
  if (input.length - (end - start) > restMax) throw new RestTooLong();
  if (found === undefined) return undefined;
  const text = input.subarray(start, end);
  return {
    text,
    isEscaped: text.includes(BACKSLASH),
    rest: input.toString('utf8', 0, start) + input.toString('utf8', end),
  };
}

/** Position of the quote that closes the text. Throws above this many escapes before quotes. */
function endOfText(
  input: Buffer,
  start: number,
  escapesMax: number,
  TooMany: new () => Error,
): number {
  let escapes = 0;
  for (let end = input.indexOf(QUOTE, start); end >= 0; end = input.indexOf(QUOTE, end + 1)) {
    const before = escapes;
    for (let at = end - 1; input[at] === BACKSLASH; at--) {
      if (++escapes > escapesMax) throw new TooMany();
    }
    if ((escapes - before) % 2 === 0) return end;
  }
  throw new SyntaxError('JSON: a text has no end');
}

const isName = (input: Buffer, start: number, end: number, name: string): boolean =>
  end - start === name.length && input.toString('latin1', start, end) === name;
