/**
 * Removes the escapes from the text of a JSON string of many megabytes: in place, and in steps
 * between which everything else can run.
 */

const BACKSLASH = 0x5c;
const U = 0x75;
const HEX_DIGITS = 4;
/** `\" \\ \/ \b \f \n \r \t` by their second characters. */
const SIMPLE: ReadonlyMap<number, number> = new Map(
  [...'"\\/bfnrt'].map((char, i) => [char.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(i)]),
);
/** Replaces a character that is not ASCII; no text contains this byte by itself. */
const NOT_ASCII = 0xff;
/** Bytes of one step: about half a millisecond where they are all escapes. */
const STEP_BYTES = 64 * 1024;

/**
 * `text` is between the quotes of a JSON string; its bytes are overwritten. Returns the part with
 * the characters, where all are ASCII. Throws SyntaxError on a malformed escape.
 */
export function* unescapeText(text: Uint8Array): Generator<undefined, Uint8Array> {
  let from = text.indexOf(BACKSLASH);
  if (from < 0) return text;
  let to = from;
  while (from < text.length) {
    const until = Math.min(from + STEP_BYTES, text.length);
    while (from < until) {
      const byte = text[from]!;
      if (byte !== BACKSLASH) {
        text[to++] = byte;
        from++;
      } else {
        const isCode = text[from + 1] === U;
        const code = isCode ? codeAt(text, from + 2) : SIMPLE.get(text[from + 1] ?? -1);
        if (code === undefined) throw new SyntaxError('JSON: a malformed escape');
        text[to++] = code < 0x80 ? code : NOT_ASCII;
        from += isCode ? 2 + HEX_DIGITS : 2;
      }
    }
    yield undefined;
  }
  return text.subarray(0, to);
}

/** The number of four hexadecimal digits; undefined where there are none. */
function codeAt(text: Uint8Array, at: number): number | undefined {
  let code = 0;
  for (let i = at; i < at + HEX_DIGITS; i++) {
    const digit = hexDigit(text[i] ?? 0);
    if (digit === undefined) return undefined;
    code = code * 16 + digit;
  }
  return code;
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
