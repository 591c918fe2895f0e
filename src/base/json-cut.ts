/**
 * Takes one long text out of JSON before that is parsed: a text of many megabytes would be copied
 * once into the string of the whole body and once more into its own.
 */
export interface Cut {
  /** The characters between the quotes, a view of the input; ASCII and without escapes. */
  readonly text: Uint8Array;
  /** The JSON with an empty text in its place. */
  readonly rest: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const COLON = 0x3a;
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** There is more than one long text: the JSON would be large without it, too. */
export class RestTooLong extends Error {
  override name = 'RestTooLong';
}

/**
 * The text of the last member of this name of the outermost object. Undefined where there is none, or
 * it has escapes: then it is to be parsed like everything else. What is no JSON at all stays so.
 * Throws RestTooLong, without looking further, where more than `restMax` bytes are something else.
 */
export function cutText(json: Uint8Array, name: string, restMax: number): Cut | undefined {
  const input = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let depth = 0;
  let found: readonly [start: number, end: number] | undefined;
  let isValue = false;
  /** Bytes of values of that name. */
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

/** Where the quote stands that closes the text; -1 where none does. */
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
