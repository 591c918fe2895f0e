/** Finds the end of HTTP answers that name their length, without turning them into text. */

const HEADER_END = Buffer.from('\r\n\r\n');
const LF = 0x0a;
const COLON = 0x3a;
const ZERO = 0x30;
const STATUS_AT = 'HTTP/1.1 '.length;
const NAME = 'content-length';

export class AnswerError extends Error {
  override name = 'AnswerError';
}

/** Length of the answer at the beginning of `bytes`, or 0 while it is incomplete. */
export function answerLength(bytes: Buffer): number {
  const headEnd = bytes.indexOf(HEADER_END);
  if (headEnd < 0) return 0;
  const end = headEnd + HEADER_END.length + bodyLength(bytes, headEnd);
  return end <= bytes.length ? end : 0;
}

export const isOk = (bytes: Uint8Array): boolean =>
  bytes[STATUS_AT] === ZERO + 2 && bytes[STATUS_AT + 1] === ZERO && bytes[STATUS_AT + 2] === ZERO;

/** The header is the last or nearly the last one, so the lines are read backwards. */
function bodyLength(bytes: Uint8Array, headEnd: number): number {
  let end = headEnd;
  while (end > 0) {
    let start = end - 1;
    while (start > 0 && bytes[start - 1] !== LF) start--;
    if (bytes[start + NAME.length] === COLON && isLengthName(bytes, start)) {
      return number(bytes, start + NAME.length + 1, end);
    }
    end = start - 2;
  }
  throw new AnswerError('an answer without Content-Length');
}

function isLengthName(bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < NAME.length; i++) {
    // Setting this bit makes a letter small and leaves the hyphen alone.
    if ((bytes[start + i]! | 0x20) !== NAME.charCodeAt(i)) return false;
  }
  return true;
}

function number(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - ZERO;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
  }
  return value;
}
