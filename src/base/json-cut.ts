/**
 * Takes one long text out of JSON before the JSON is parsed. Otherwise a text of many megabytes
 * would be copied twice: into the string of the whole body, and into its own string.
 */
export interface Cut {
  /** The characters between the quotes, a view of the input; ASCII and without escapes. */
  readonly text: Uint8Array;
  /** The JSON with an empty text in place of the long one. */
  readonly rest: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const COLON = 0x3a;
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The JSON is large even without the long text. */
export class RestTooLong extends Error {
  override name = 'RestTooLong';
}

/**
 * The text of the last member with this name in the outermost object. Undefined where there is
 * none, or where the text has escapes: the caller then parses it like everything else. Malformed
 * JSON stays malformed. Throws RestTooLong as soon as more than `restMax` bytes are something else.
 */
export function cutText(json: Uint8Array, name: string, restMax: number): Cut | undefined {
  const input = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let depth = 0;
  let found: readonly [start: number, end: number] | undefined;
  let isValue = false;
  /** Bytes of the values with that name. */
  let named = 0;
  for (let at = 0; at < input.length; at++) {
    if (at - named > restMax) throw new RestTooLong();
    const byte = input[at]!;
    if (byte === QUOTE) {
      const end = endOfText(input, at + 1);
      if (end < 0) return undefined;
      if (depth === 1 && isValue) {
        found = [at + 1, end];
        named += end - at;
      }
      isValue = depth === 1 && isName(input, at + 1, end, name);
      at = end;
    } else if (byte === COLON || SPACE.has(byte)) {
      // Between a name and its value.
    } else {
      isValue = false;
      if (OPENING.has(byte)) depth++;
      else if (CLOSING.has(byte)) depth--;
    }
  }
  const [start, end] = found ?? [0, 0];
  if (input.length - (end - start) > restMax) throw new RestTooLong();
  if (found === undefined) return undefined;
  const text = input.subarray(start, end);
  if (text.includes(BACKSLASH)) return undefined;
  return { text, rest: input.toString('utf8', 0, start) + input.toString('utf8', end) };
}

/** Position of the quote that closes the text; -1 where there is none. */
function endOfText(input: Buffer, start: number): number {
  for (let end = input.indexOf(QUOTE, start); end >= 0; end = input.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (input[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}

const isName = (input: Buffer, start: number, end: number, name: string): boolean =>
  end - start === name.length && input.toString('latin1', start, end) === name;
