/** Text forms of byte strings: Base58, Base64 with its prefix, hexadecimal (rest.md#parameters). */
import { base58 as alphabet58 } from '../base/base58.ts';
import { type TextForm, TextTooLong } from './primitives.ts';

/** Digits of the longest Base58 text of this many bytes: log 256 / log 58 each, rounded up. */
const digits58 = (bytes: number): number => Math.ceil(bytes * 1.3658) + 1;

export const base58: TextForm = {
  encode: (bytes) => alphabet58.encode(bytes),
  // Decoding takes quadratic time, so the length is checked first.
  decode(text, maxBytes) {
    const digits = digits58(maxBytes);
    if (text.length > digits) throw new TextTooLong(maxBytes);
    return alphabet58.decode(text, digits);
  },
  schema: { type: 'string', format: 'base58' },
};

const SHOWN_CHARS = 100;

/** A client's text in a form that fits into an error message: shortened where it is long. */
export function shown(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

const PREFIX = 'base64:';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Standard alphabet; the prefix `base64:` is optional in requests and always present in answers.
 */
export const base64: TextForm = {
  encode: (bytes) =>
    PREFIX + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  decode(text, maxBytes) {
    const bare = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
    if (bare.length > Math.ceil(maxBytes / 3) * 4) throw new TextTooLong(maxBytes);
    if (!BASE64.test(bare)) throw new Error('Unable to decode base64');
    const bytes = Buffer.from(bare, 'base64');
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  },
  schema: { type: 'string', format: 'base64', description: 'Base64 with the prefix base64:' },
};

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

export const hex: TextForm = {
  encode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex'),
  decode(text, maxBytes) {
    if (text.length > maxBytes * 2) throw new TextTooLong(maxBytes);
    if (!HEX.test(text)) throw new Error('Unable to decode hexadecimal');
    return Uint8Array.from(Buffer.from(text, 'hex'));
  },
  schema: { type: 'string', pattern: '^([0-9a-fA-F]{2})*$' },
};
