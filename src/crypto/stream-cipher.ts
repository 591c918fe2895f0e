/**
 * AES-256-GCM over a stream of chunks, under a key that serves one stream only. This is the STREAM
 * construction: each chunk authenticates its position and whether it is the last one. So chunks can
 * be neither exchanged nor left out, and a stream that is cut short is detected.
 *
 *   sealed chunk   1 if it is the last, else 0 | ciphertext | tag 16
 *   nonce          0 × 7 | number of the chunk 4 | the same first byte
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { subkey } from './keystore-cipher.ts';

const TAG_BYTES = 16;
/** The bytes that sealing adds to a chunk. */
export const CHUNK_OVERHEAD_BYTES = 1 + TAG_BYTES;
const CIPHER = 'aes-256-gcm';
const MORE = 0;
const LAST = 1;

export interface Chunk {
  readonly plain: Uint8Array;
  readonly last: boolean;
}

/** The key of a stream: HKDF-SHA256 of a secret that two parties share. */
export const streamKey = (secret: Uint8Array, salt: Uint8Array, purpose: string): Uint8Array =>
  subkey(secret, salt, purpose);

/** Seals the chunks of a stream in their order. */
export function chunkSealer(key: Uint8Array, associated: Uint8Array): (chunk: Chunk) => Uint8Array {
  const nonces = nonceCounter();
  return ({ plain, last }) => {
    const mark = last ? LAST : MORE;
    const cipher = createCipheriv(CIPHER, key, nonces(mark)).setAAD(associated);
    const sealed = [Uint8Array.of(mark), cipher.update(plain), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed);
  };
}

/**
 * Opens chunks in the same order; undefined for a chunk that is not the next one of this stream.
 */
export function chunkOpener(
  key: Uint8Array,
  associated: Uint8Array,
): (sealed: Uint8Array) => Chunk | undefined {
  const nonces = nonceCounter();
  return (sealed) => {
    const mark = sealed[0];
    if (sealed.length < CHUNK_OVERHEAD_BYTES || (mark !== MORE && mark !== LAST)) return undefined;
    const decipher = createDecipheriv(CIPHER, key, nonces(mark)).setAAD(associated);
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
    const plain = decipher.update(sealed.subarray(1, sealed.length - TAG_BYTES));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return { plain, last: mark === LAST };
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
