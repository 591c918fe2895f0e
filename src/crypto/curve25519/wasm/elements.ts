/** Elements of the field in the memory of the engine: written, read, and raised to powers. */
import { P } from '../field.ts';
import type { PairEngine } from './engine.ts';
import { bitOf, bitsOf, LIMBS, PAIR_BYTES } from './pair-field.ts';

/** The element of a pair: the first or the second. */
export type Side = 0 | 1;

const indices = Array.from({ length: LIMBS }, (_, i) => i);
const masks = indices.map((i) => 2 ** bitsOf(i) - 1);

/** What an instance reserves. */
export const ELEMENTS_BYTES = 5 * PAIR_BYTES;

export class Elements {
  private readonly engine: PairEngine;
  private readonly words: Uint32Array;
  /** Powers of a pair, by their exponents. */
  private readonly two: number;
  private readonly eleven: number;
  private readonly tail: number;
  private readonly long: number;
  private readonly squared: number;

  constructor(engine: PairEngine) {
    this.engine = engine;
    this.words = new Uint32Array(engine.memory);
    this.two = engine.reserve(PAIR_BYTES);
    this.eleven = engine.reserve(PAIR_BYTES);
    this.tail = engine.reserve(PAIR_BYTES);
    this.long = engine.reserve(PAIR_BYTES);
    this.squared = engine.reserve(PAIR_BYTES);
  }

  put(pair: number, side: Side, value: bigint): void {
    for (const i of indices) {
      const limb = (value >> BigInt(bitOf(i))) & BigInt(masks[i]!);
      this.words[wordOf(pair, side, i)] = Number(limb);
    }
  }

  take(pair: number, side: Side): bigint {
    const limb = (i: number): bigint => BigInt(this.words[wordOf(pair, side, i)]!);
    return indices.reduce((total, i) => total + (limb(i) << BigInt(bitOf(i))), 0n) % P;
  }

  /** The limbs of the representative below p, at `target`, of an element of magnitude 1. */
  canonical(target: Int32Array, pair: number, side: Side): void {
    for (let i = 0; i < LIMBS; i++) target[i] = this.words[wordOf(pair, side, i)]!;
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
    const lowestOfP = masks[0]! - 18;
    if (target[0]! < lowestOfP) return;
    for (let i = 1; i < LIMBS; i++) if (target[i] !== masks[i]) return;
    target[0] = target[0]! - lowestOfP;
    target.fill(0, 1);
  }

  /** The inverse of each element of the pair; that of 0 is 0. */
  invert(target: number, pair: number): void {
    const { run } = this.engine;
    this.power250(pair);
    run.squareTimes(this.squared, this.long, 5);
    run.multiply(target, this.squared, this.eleven);
  }

  /** To the power of (p − 5) / 8 = 2^252 − 3, which serves to find roots. */
  rootPower(target: number, pair: number): void {
    const { run } = this.engine;
    this.power250(pair);
    run.squareTimes(this.squared, this.long, 2);
    run.multiply(target, this.squared, pair);
  }

  /** Puts a^(2^250 − 1) at `long` and a^11 at `eleven`. */
  private power250(a: number): void {
    const { two, eleven, tail, long, squared } = this;
    const { run } = this.engine;
    run.squareTimes(two, a, 1);
    run.squareTimes(squared, two, 2);
    run.multiply(long, squared, a); // 9
    run.multiply(eleven, long, two);
    run.squareTimes(squared, eleven, 1);
    run.multiply(long, squared, long); // 2^5 − 1
    this.lengthen(5, long); // 2^10 − 1
    run.squareTimes(squared, long, 10);
    run.multiply(tail, squared, long); // 2^20 − 1
    run.squareTimes(squared, tail, 20);
    run.multiply(squared, squared, tail); // 2^40 − 1
    run.squareTimes(squared, squared, 10);
    run.multiply(tail, squared, long); // 2^50 − 1
    run.squareTimes(squared, tail, 50);
    run.multiply(long, squared, tail); // 2^100 − 1
    this.lengthen(100, long); // 2^200 − 1
    this.lengthen(50, tail);
  }

  /** From a^(2^n − 1) at `long`, and a^(2^m − 1) at `tail`, to a^(2^(n + m) − 1) at `long`. */
  private lengthen(m: number, tail: number): void {
    const { run } = this.engine;
    run.squareTimes(this.squared, this.long, m);
    run.multiply(this.long, this.squared, tail);
  }
}

const wordOf = (pair: number, side: Side, limb: number): number =>
  pair / 4 + 4 * (limb >> 1) + 2 * (limb & 1) + side;
