/**
 * Encryption of a stream of chunks, under a key that serves one stream only, with the cipher of the
 * family. This is the STREAM construction: each chunk authenticates its position and whether it is
 * the last one. So chunks can be neither exchanged nor left out, and a stream that is cut short is
 * detected.
 *
 *   sealed chunk   1 if it is the last, else 0 | ciphertext | tag 16
 *   nonce          0 × 7 | number of the chunk 4 | the same first byte
 */
import { concat } from '../base/bytes.ts';
import type { CryptoFamily } from './family.ts';
import { subkey } from './keystore-cipher.ts';

const TAG_BYTES = 16;
/** The bytes that sealing adds to a chunk. */
export const CHUNK_OVERHEAD_BYTES = 1 + TAG_BYTES;
const MORE = 0;
const LAST = 1;

export interface Chunk {
  readonly plain: Uint8Array;
  readonly last: boolean;
}

/** The key of a stream: HKDF-SHA256 of a secret that two parties share. */
export const streamKey = (secret: Uint8Array, salt: Uint8Array, purpose: string): Uint8Array =>
  subkey(secret, salt, purpose);

type PieceCipher = Pick<CryptoFamily, 'sealPiece' | 'openPiece'>;

/** Seals the chunks of a stream in their order. */
export function chunkSealer(
  family: PieceCipher,
  key: Uint8Array,
  associated: Uint8Array,
): (chunk: Chunk) => Uint8Array {
  const nonces = nonceCounter();
  return ({ plain, last }) => {
    const mark = last ? LAST : MORE;
    return concat(Uint8Array.of(mark), family.sealPiece(key, nonces(mark), plain, associated));
  };
}

/**
 * Opens chunks in the same order; undefined for a chunk that is not the next one of this stream.
 */
export function chunkOpener(
  family: PieceCipher,
  key: Uint8Array,
  associated: Uint8Array,
): (sealed: Uint8Array) => Chunk | undefined {
  const nonces = nonceCounter();
  return (sealed) => {
    const mark = sealed[0];
    if (sealed.length < CHUNK_OVERHEAD_BYTES || (mark !== MORE && mark !== LAST)) return undefined;
    const plain = family.openPiece(key, nonces(mark), sealed.subarray(1), associated);
    return plain && { plain, last: mark === LAST };
  };
}

function nonceCounter(): (mark: number) => Uint8Array {
  let count = 0;
  return (mark) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(count++, 7);
    nonce[11] = mark;
    return nonce;
  };
}
