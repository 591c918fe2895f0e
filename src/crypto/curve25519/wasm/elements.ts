/** Elements of the field in the memory of the engine: written, read, and raised to powers. */
import { P } from '../field.ts';
import type { PairEngine } from './engine.ts';
import { bitOf, bitsOf, LIMBS, PAIR_BYTES } from './pair-field.ts';

/** The element of a pair: the first or the second. */
export type Side = 0 | 1;

const indices = Array.from({ length: LIMBS }, (_, i) => i);
const masks = indices.map((i) => 2 ** bitsOf(i) - 1);
const TOP = LIMBS - 1;

export interface Elements {
  put(pair: number, side: Side, value: bigint): void;
  take(pair: number, side: Side): bigint;
  /** The limbs of the representative below p, at `target`. */
  canonical(target: Int32Array, pair: number, side: Side): void;
  /** The inverse of each element of the pair; that of 0 is 0. */
  invert(target: number, pair: number): void;
  /** To the power of (p − 5) / 8 = 2^252 − 3, which serves to find roots. */
  rootPower(target: number, pair: number): void;
}

/** What `createElements` reserves. */
export const ELEMENTS_BYTES = 5 * PAIR_BYTES;

export function createElements({ run, memory, reserve }: PairEngine): Elements {
  const words = new Uint32Array(memory);
  const wordOf = (pair: number, side: Side, limb: number): number =>
    pair / 4 + 4 * (limb >> 1) + 2 * (limb & 1) + side;
  const pairs = Array.from({ length: 5 }, () => reserve(PAIR_BYTES)) as Five;
  const [squared, two, eleven, tail50, long] = pairs;

  /** Puts a^(2^250 − 1) at `long` and a^11 at `eleven`. */
  function power250(a: number): void {
    /** From a^(2^n − 1) at `long`, and a^(2^m − 1) at `tail`, to a^(2^(n + m) − 1). */
    const lengthen = (m: number, tail: number): void => {
      run.squareTimes(squared, long, m);
      run.multiply(long, squared, tail);
    };
    run.squareTimes(two, a, 1);
    run.squareTimes(squared, two, 2);
    run.multiply(long, squared, a);
    run.multiply(eleven, long, two);
    run.squareTimes(squared, eleven, 1);
    run.multiply(long, squared, long); // 31 = 2^5 − 1
    lengthen(5, long);
    run.squareTimes(squared, long, 10);
    run.multiply(tail50, squared, long); // 2^20 − 1, for now
    run.squareTimes(squared, tail50, 20);
    run.multiply(squared, squared, tail50); // 40
    run.squareTimes(squared, squared, 10);
    run.multiply(tail50, squared, long); // 2^50 − 1
    run.squareTimes(squared, tail50, 50);
    run.multiply(long, squared, tail50); // 100
    lengthen(100, long);
    lengthen(50, tail50);
  }

  return {
    put(pair, side, value) {
      for (const i of indices) {
        const limb = (value >> BigInt(bitOf(i))) & BigInt(masks[i]!);
        words[wordOf(pair, side, i)] = Number(limb);
      }
    },
    take(pair, side) {
      const limb = (i: number): bigint => BigInt(words[wordOf(pair, side, i)]!);
      return indices.reduce((total, i) => total + (limb(i) << BigInt(bitOf(i))), 0n) % P;
    },
    canonical(target, pair, side) {
      for (let i = 0; i < LIMBS; i++) target[i] = words[wordOf(pair, side, i)]!;
      // The second time for what 19 times the first carry brings, up to the highest limb.
      for (let pass = 0; pass < 2; pass++) {
        let carry = 0;
        for (let i = 0; i < LIMBS; i++) {
          const limb = target[i]! + carry;
          carry = limb >> bitsOf(i);
          target[i] = limb & masks[i]!;
        }
        target[0] = target[0]! + 19 * carry;
      }
      if (target[0]! < masks[0]! - 18) return;
      for (let i = 1; i < LIMBS; i++) if (target[i] !== masks[i]) return;
      target[0] = target[0]! - (masks[0]! - 18);
      target.fill(0, 1, TOP + 1);
    },
    invert(target, pair) {
      power250(pair);
      run.squareTimes(squared, long, 5);
      run.multiply(target, squared, eleven);
    },
    rootPower(target, pair) {
      power250(pair);
      run.squareTimes(squared, long, 2);
      run.multiply(target, squared, pair);
    },
  };
}

type Five = [number, number, number, number, number];
