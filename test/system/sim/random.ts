/**
 * xoshiro128**: every choice of a simulation comes from such a generator, and all generators come
 * from one seed.
 */
import type { Random } from '../../../src/base/ports/random.ts';

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

export class Dice implements Random {
  private readonly state = new Uint32Array(4);

  constructor(seed: number) {
    // SplitMix32 spreads a small seed over the whole state.
    let x = seed >>> 0;
    for (let i = 0; i < 4; i++) {
      x = (x + 0x9e3779b9) >>> 0;
      let z = x;
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      this.state[i] = z ^ (z >>> 15);
    }
  }

  u32(): number {
    const s = this.state;
    const result = Math.imul(rotate(Math.imul(s[1]!, 5), 7), 9) >>> 0;
    const t = s[1]! << 9;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= t;
    s[3] = rotate(s[3]!, 11);
    return result;
  }

  /** 0 ≤ n < `limit`. */
  below(limit: number): number {
    return Math.floor((this.u32() / 0x1_0000_0000) * limit);
  }

  /** `from` ≤ n ≤ `to`. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** True in `share` of all cases. */
  happens(share: number): boolean {
    return this.u32() < share * 0x1_0000_0000;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  }

  bytes(count: number): Uint8Array {
    const out = new Uint8Array(count);
    for (let i = 0; i < count; i++) out[i] = this.u32();
    return out;
  }

  /** A generator of its own for one part, so that a change there does not disturb the others. */
  fork(): Dice {
    return new Dice(this.u32());
  }
}
