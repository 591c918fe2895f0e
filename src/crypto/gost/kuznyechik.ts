/** The block cipher Kuznyechik (RFC 7801) in the counter mode of GOST R 34.13-2015. */
import type { Engine } from './wasm/engine.ts';
import { CIPHER_BLOCK_BYTES, linear } from './wasm/kuznyechik.ts';

export const KEY_SIZE = 32;
/** Half a block; the counter takes the other half. */
export const COUNTER_IV_SIZE = CIPHER_BLOCK_BYTES / 2;

export interface Kuznyechik {
  /** Encrypts a block in a copy. */
  encryptBlock(key: Uint8Array, block: Uint8Array): Uint8Array;
  /** Encrypts or decrypts in place. */
  applyCounter(key: Uint8Array, iv: Uint8Array, data: Uint8Array): void;
}

/** Blocks that are encrypted with one call. */
const BUFFER_BLOCKS = 1024;
const FEISTEL_STEPS = 32;
/** Each pair of round keys follows from the pair before in so many steps. */
const STEPS_PER_PAIR = 8;

export function createKuznyechik(engine: Engine): Kuznyechik {
  const { run, roundKeys } = engine;
  const memory = new Uint8Array(engine.memory);
  const bufferBytes = BUFFER_BLOCKS * CIPHER_BLOCK_BYTES;
  const buffer = engine.reserve(bufferBytes);
  const counter = engine.reserve(CIPHER_BLOCK_BYTES);
  const scratch = engine.reserve(CIPHER_BLOCK_BYTES);
  const constants = Array.from({ length: FEISTEL_STEPS }, (_, i) => {
    const block = new Uint8Array(CIPHER_BLOCK_BYTES);
    block[CIPHER_BLOCK_BYTES - 1] = i + 1;
    return linear(block);
  });

  function setKey(key: Uint8Array): void {
    let left: Uint8Array = key.slice(0, CIPHER_BLOCK_BYTES);
    let right: Uint8Array = key.slice(CIPHER_BLOCK_BYTES);
    memory.set(key, roundKeys);
    for (const [i, constant] of constants.entries()) {
      memory.set(xor(left, constant), scratch);
      run.transformBlock(scratch, scratch);
      const mixed = xor(memory.slice(scratch, scratch + CIPHER_BLOCK_BYTES), right);
      [left, right] = [mixed, left];
      if ((i + 1) % STEPS_PER_PAIR !== 0) continue;
      const at = roundKeys + (2 * CIPHER_BLOCK_BYTES * (i + 1)) / STEPS_PER_PAIR;
      memory.set(left, at);
      memory.set(right, at + CIPHER_BLOCK_BYTES);
    }
  }

  function forgetKey(): void {
    memory.fill(0, roundKeys, roundKeys + 10 * CIPHER_BLOCK_BYTES);
    memory.fill(0, scratch, scratch + CIPHER_BLOCK_BYTES);
  }

  return {
    encryptBlock(key, block) {
      setKey(key);
      memory.set(block, buffer);
      run.encryptBlock(buffer, buffer);
      forgetKey();
      return memory.slice(buffer, buffer + CIPHER_BLOCK_BYTES);
    },
    applyCounter(key, iv, data) {
      setKey(key);
      memory.set(iv, counter);
      memory.fill(0, counter + COUNTER_IV_SIZE, counter + CIPHER_BLOCK_BYTES);
      for (let from = 0; from < data.length; from += bufferBytes) {
        const piece = data.subarray(from, from + bufferBytes);
        memory.set(piece, buffer);
        const blocks = Math.ceil(piece.length / CIPHER_BLOCK_BYTES);
        run.encryptCounter(buffer, blocks, counter, scratch);
        piece.set(memory.subarray(buffer, buffer + piece.length));
      }
      memory.fill(0, buffer, buffer + bufferBytes);
      forgetKey();
    },
  };
}

const xor = (a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(a, (byte, i) => byte ^ b[i]!);
