/** The hash Streebog (RFC 6986), and what RFC 7836 builds on it: HMAC and a derivation of keys. */
import { concat } from '../../base/bytes.ts';
import type { Engine } from './wasm/engine.ts';
import { BLOCK_BYTES } from './wasm/streebog.ts';

export const DIGEST_BYTES = 32;

export interface Streebog {
  /** 32 bytes. */
  hash256(...parts: readonly Uint8Array[]): Uint8Array;
  /** 64 bytes. */
  hash512(...parts: readonly Uint8Array[]): Uint8Array;
  /** HMAC_GOSTR3411_2012_256; a key has at most 64 bytes. */
  hmac256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array;
  /** KDF_GOSTR3411_2012_256. */
  deriveKey(key: Uint8Array, label: Uint8Array, seed: Uint8Array): Uint8Array;
}

/** Blocks that are taken in with one call. */
const BUFFER_BYTES = 128 * BLOCK_BYTES;
const PADDING = Uint8Array.of(1);
/** The number of bits that `deriveKey` returns, 256. */
const KEY_BITS = Uint8Array.of(1, 0);
const COUNTER = Uint8Array.of(1);
const SEPARATOR = Uint8Array.of(0);

export function createStreebog(engine: Engine): Streebog {
  const { run } = engine;
  const sponge = engine.reserve(3 * BLOCK_BYTES);
  const zero = engine.reserve(BLOCK_BYTES);
  const buffer = engine.reserve(BUFFER_BYTES);
  const memory = new Uint8Array(engine.memory);
  const state = memory.subarray(sponge, sponge + BLOCK_BYTES);
  const [count, sum] = [sponge + BLOCK_BYTES, sponge + 2 * BLOCK_BYTES];
  const numbers = new DataView(engine.memory);

  /** `filler` is 1 for the short digest and 0 for the long one. */
  function hash(filler: 0 | 1, parts: readonly Uint8Array[]): void {
    state.fill(filler);
    memory.fill(0, count, sum + BLOCK_BYTES);
    let used = 0;
    for (const part of parts) {
      for (let from = 0; from < part.length; ) {
        const size = Math.min(part.length - from, BUFFER_BYTES - used);
        memory.set(size === part.length ? part : part.subarray(from, from + size), buffer + used);
        from += size;
        used += size;
        if (used === BUFFER_BYTES) {
          run.absorb(sponge, buffer, BUFFER_BYTES / BLOCK_BYTES);
          used = 0;
        }
      }
    }
    finish(used);
  }

  function finish(used: number): void {
    const rest = used % BLOCK_BYTES;
    const blocks = (used - rest) / BLOCK_BYTES;
    if (blocks > 0) run.absorb(sponge, buffer, blocks);
    const last = buffer + used - rest;
    memory.set(PADDING, buffer + used);
    memory.fill(0, buffer + used + 1, last + BLOCK_BYTES);
    const before = numbers.getBigUint64(count, true);
    run.absorb(sponge, last, 1);
    numbers.setBigUint64(count, before + BigInt(8 * rest), true);
    run.compress(sponge, zero, count);
    run.compress(sponge, zero, sum);
    // The message may have held a key.
    memory.fill(0, buffer, last + BLOCK_BYTES);
  }

  function hash256(...parts: readonly Uint8Array[]): Uint8Array {
    hash(1, parts);
    return state.slice(DIGEST_BYTES);
  }

  function hmac256(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
    const inner = hash256(padded(key, 0x36), ...parts);
    return hash256(padded(key, 0x5c), inner);
  }

  return {
    hash256,
    hash512(...parts) {
      hash(0, parts);
      return state.slice();
    },
    hmac256,
    deriveKey: (key, label, seed) =>
      hmac256(key, concat(COUNTER, label, SEPARATOR, seed, KEY_BITS)),
  };
}

function padded(key: Uint8Array, filler: number): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES).fill(filler);
  for (const [i, byte] of key.entries()) block[i]! ^= byte;
  return block;
}
