/**
 * Numbers of 32 bytes as they lie in the engine's memory: nine limbs of 29 bits, each in 32 bits.
 * The conversions do not branch on the values.
 */
import { LIMB_BITS, LIMBS } from './wasm/field.ts';

export const NUMBER_BYTES = 32;
const MASK = 2 ** LIMB_BITS - 1;
const WORDS = NUMBER_BYTES / 4;

export interface Limbs {
  /** Writes the number of 32 bytes. */
  putLittleEndian(at: number, bytes: Uint8Array): void;
  putBigEndian(at: number, bytes: Uint8Array): void;
  putInteger(at: number, value: bigint): void;
  /** The 32 bytes of a number below 2^256 whose limbs are carried. */
  takeLittleEndian(at: number): Uint8Array;
  takeBigEndian(at: number): Uint8Array;
  /** The same as eight words, the lowest first; the next call overwrites them. */
  words(at: number): Uint32Array;
  isZero(at: number): boolean;
}

export function createLimbs(buffer: ArrayBuffer): Limbs {
  const memory = new Uint32Array(buffer);
  // One word more than a number has, always 0.
  const words = new Uint32Array(WORDS + 1);
  const bytes = new DataView(words.buffer);

  function put(at: number): void {
    for (let i = 0; i < LIMBS; i++) {
      const word = (LIMB_BITS * i) >>> 5;
      const shift = (LIMB_BITS * i) & 31;
      const above = shift === 0 ? 0 : words[word + 1]! << (32 - shift);
      memory[at / 4 + i] = ((words[word]! >>> shift) | above) & MASK;
    }
  }

  function take(at: number): void {
    words.fill(0);
    for (let i = 0; i < LIMBS; i++) {
      const word = (LIMB_BITS * i) >>> 5;
      const shift = (LIMB_BITS * i) & 31;
      const limb = memory[at / 4 + i]!;
      words[word]! |= limb << shift;
      if (shift !== 0) words[word + 1]! |= limb >>> (32 - shift);
    }
  }

  return {
    putLittleEndian(at, number) {
      for (let i = 0; i < NUMBER_BYTES; i++) bytes.setUint8(i, number[i]!);
      put(at);
    },
    putBigEndian(at, number) {
      for (let i = 0; i < NUMBER_BYTES; i++) bytes.setUint8(NUMBER_BYTES - 1 - i, number[i]!);
      put(at);
    },
    putInteger(at, value) {
      for (let i = 0; i < WORDS; i++)
        words[i] = Number(BigInt.asUintN(32, value >> BigInt(32 * i)));
      put(at);
    },
    takeLittleEndian(at) {
      take(at);
      return Uint8Array.from({ length: NUMBER_BYTES }, (_, i) => bytes.getUint8(i));
    },
    takeBigEndian(at) {
      take(at);
      return Uint8Array.from({ length: NUMBER_BYTES }, (_, i) =>
        bytes.getUint8(NUMBER_BYTES - 1 - i),
      );
    },
    words(at) {
      take(at);
      return words;
    },
    isZero(at) {
      let any = 0;
      for (let i = 0; i < LIMBS; i++) any |= memory[at / 4 + i]!;
      return any === 0;
    },
  };
}
