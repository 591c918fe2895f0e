/** Hexadecimal text: written in lower case, read in either case. */

import { ExpectedError } from './faults/expected-error.ts';

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/** A SHA-256 hash as text. */
export const SHA256_HEX = /^[0-9a-fA-F]{64}$/;

export class HexError extends ExpectedError {
  override name = 'HexError';
}

export function encodeHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** Two digits a byte, without prefix. Throws HexError. */
export function decodeHex(text: string): Uint8Array {
  if (!HEX.test(text)) throw new HexError('Unable to decode hexadecimal');
  const bytes = new Uint8Array(text.length / 2);
  Buffer.from(bytes.buffer).write(text, 'hex');
  return bytes;
}
