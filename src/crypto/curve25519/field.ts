/**
 * Arithmetic modulo p = 2^255 − 19, as needed to convert X25519 keys to Ed25519 keys: y = (u − 1) /
 * (u + 1), where 1/0 counts as 0 (accounts.md#signatures).
 */

export const P = 2n ** 255n - 19n;
/** 19, reached by folding: 2^255 ≡ 19. */
const MASK = 2n ** 255n - 1n;

const bytes = new Uint8Array(32);
const words = new BigUint64Array(bytes.buffer);
// Typed arrays have the byte order of the machine. All platforms of the native packages are
// little-endian.

/** The little-endian integer of 32 bytes. */
export function toInteger(source: Uint8Array): bigint {
  bytes.set(source);
  return words[0]! | (words[1]! << 64n) | (words[2]! << 128n) | (words[3]! << 192n);
}

/** 32 bytes, little-endian. */
export function fromInteger(value: bigint): Uint8Array {
  const out = new Uint8Array(32);
  const target = new BigUint64Array(out.buffer);
  for (let i = 0; i < 4; i++) target[i] = BigInt.asUintN(64, value >> BigInt(64 * i));
  return out;
}

/**
 * The Edwards y of each public key (32 bytes each, bit 255 ignored), its sign bit clear. Together
 * they cost one inversion, and three multiplications for each key.
 */
export function edwardsOf(publicKeys: readonly Uint8Array[]): Uint8Array[] {
  const us = publicKeys.map((key) => (toInteger(key) & MASK) % P);
  const divisors = us.map((u) => (u === P - 1n ? 0n : u + 1n));
  const inverses = invertAll(divisors);
  return us.map((u, i) => fromInteger(((u - 1n + P) * inverses[i]!) % P));
}

/** Montgomery's trick; zeros stay zero. */
function invertAll(values: readonly bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    before.push(product);
    if (value !== 0n) product = (product * value) % P;
  }
  let inverse = invert(product);
  const out = new Array<bigint>(values.length).fill(0n);
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i]!;
    if (value === 0n) continue;
    out[i] = (inverse * before[i]!) % P;
    inverse = (inverse * value) % P;
  }
  return out;
}

/** Extended Euclid; `value` is neither 0 nor a multiple of p. */
function invert(value: bigint): bigint {
  let [a, b] = [P, value];
  let [x, y] = [0n, 1n];
  while (b > 1n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  return y < 0n ? y + P : y;
}
