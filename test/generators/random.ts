/** Repeatable randomness for tests: the seed reproduces a failure. */

/** Mulberry32: 32 bits of state, good enough to pick test values. */
export class Rng {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  u32(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** 0 ≤ n < `limit`. */
  below(limit: number): number {
    return this.u32() % limit;
  }

  /** `from` ≤ n ≤ `to`. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  bytes(count: number): Uint8Array {
    const out = new Uint8Array(count);
    for (let i = 0; i < count; i++) out[i] = this.u32();
    return out;
  }

  /** Any signed 64-bit integer, the extremes and small numbers more often than others. */
  i64(): bigint {
    const bits = (BigInt(this.u32()) << 32n) | BigInt(this.u32());
    return BigInt.asIntN(64, bits) >> BigInt(this.below(64));
  }

  /** 0 ≤ n ≤ `max`, `max` itself now and then. */
  upTo(max: bigint): bigint {
    if (this.chance(8)) return max;
    const bits = (BigInt(this.u32()) << 32n) | BigInt(this.u32());
    return (bits >> BigInt(1 + this.below(63))) % (max + 1n);
  }

  text(maxUnits: number, alphabet: readonly string[] = LETTERS): string {
    const count = this.below(maxUnits + 1);
    let out = '';
    while (out.length < count) out += this.pick(alphabet);
    return out.length > maxUnits ? out.slice(0, -1).replace(/[\ud800-\udbff]$/, '') : out;
  }

  list<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.below(max + 1) }, make);
  }
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABC 0123456789_-./"\\\n', 'é', 'я', '漢', '😀'];
