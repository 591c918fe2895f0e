/**
 * Base64 (standard alphabet, padded) of large data. The conversion works in windows, so memory
 * never holds a second copy of the data.
 */

/** A multiple of four characters, and of the three bytes that they encode. */
const WINDOW_CHARS = 256 * 1024;

/** Number of bytes that a text of ASCII characters encodes; undefined where its length is wrong. */
export function decodedLength(text: string | Uint8Array): number | undefined {
  const { length } = text;
  if (length % 4 !== 0) return undefined;
  const end = text.slice(-2);
  const padding = typeof end === 'string' ? /=*$/.exec(end)![0].length : paddingOf(end);
  return (length / 4) * 3 - padding;
}

const EQUALS = 0x3d;
const paddingOf = (end: Uint8Array): number => end.filter((byte) => byte === EQUALS).length;

/**
 * The bytes of a text in pieces of at most 192 KiB; returns false where the text is not Base64. An
 * error in the text shows at the latest after the last piece.
 */
export function* decodeBase64(text: string | Uint8Array): Generator<Uint8Array, boolean> {
  const ascii = typeof text === 'string' ? undefined : asBuffer(text);
  let length = 0;
  for (let from = 0; from < text.length; from += WINDOW_CHARS) {
    const to = from + WINDOW_CHARS;
    const window = ascii?.toString('latin1', from, to) ?? (text as string).slice(from, to);
    const piece = Buffer.from(window, 'base64');
    length += piece.length;
    yield piece;
  }
  // The decoder skips characters that are not Base64 and stops at the padding.
  return length === decodedLength(text);
}

/** Characters of the text of so many bytes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/**
 * The Base64 text, as ASCII bytes, of `length` bytes that come in pieces; with `around` before and
 * after it.
 */
export async function encodeBase64(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
  around: '' | '"',
): Promise<Uint8Array> {
  const out = Buffer.allocUnsafeSlow(base64Length(length) + 2 * around.length);
  let at = out.write(around, 0, 'latin1');
  let rest = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? asBuffer(piece) : Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % 3);
    at += out.write(bytes.toString('base64', 0, whole), at, 'latin1');
    rest = Buffer.from(bytes.subarray(whole));
  }
  at += out.write(rest.toString('base64'), at, 'latin1');
  out.write(around, at, 'latin1');
  return out;
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
