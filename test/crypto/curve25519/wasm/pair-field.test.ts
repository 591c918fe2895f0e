// Products and squares of the largest limbs that callers may pass, beside integers.
import t, { type Test } from 'tap';
import { P } from '../../../../src/crypto/curve25519/field.ts';
import { createPairEngine } from '../../../../src/crypto/curve25519/wasm/engine.ts';
import {
  bitOf,
  bitsOf,
  LIMBS,
  PAIR_BYTES,
} from '../../../../src/crypto/curve25519/wasm/pair-field.ts';
import { seededRandom } from '../../random.ts';

const random = seededRandom('pair field');
const engine = createPairEngine(4 * PAIR_BYTES);
const words = new Uint32Array(engine.memory);
const [a, b, c] = [0, 1, 2].map(() => engine.reserve(PAIR_BYTES)) as [number, number, number];
const indices = Array.from({ length: LIMBS }, (_, i) => i);
const wordOf = (pair: number, side: 0 | 1, i: number): number =>
  pair / 4 + 4 * (i >> 1) + 2 * (i & 1) + side;

const largest = (limb: number, magnitude: number): number =>
  magnitude * (2 ** bitsOf(limb) + 2 ** 17);
const put = (pair: number, side: 0 | 1, limbs: readonly number[]): void => {
  for (const i of indices) words[wordOf(pair, side, i)] = limbs[i]!;
};
const integer = (limbs: readonly number[]): bigint =>
  limbs.reduce((total, limb, i) => total + (BigInt(limb) << BigInt(bitOf(i))), 0n);
const taken = (pair: number, side: 0 | 1): number[] =>
  indices.map((i) => words[wordOf(pair, side, i)]!);

/** Each limb is 0, the largest, one of few bits or any. */
function limbsOf(magnitude: number): number[] {
  return indices.map((i) => {
    const [kind, ...bytes] = random.bytes(5);
    const any = Buffer.from(bytes).readUInt32LE() % (largest(i, magnitude) + 1);
    return [0, largest(i, magnitude), 2 ** bitsOf(i) - 1, any][kind! % 4]!;
  });
}
const all = (magnitude: number): number[] => indices.map((i) => largest(i, magnitude));

function check(t: Test, pair: number, side: 0 | 1, expected: bigint): void {
  const limbs = taken(pair, side);
  if (integer(limbs) % P !== expected % P) t.fail('wrong value');
  if (limbs.some((limb, i) => limb > largest(i, 1))) t.fail('the magnitude is above 1');
}

t.test('products', async (t) => {
  for (let n = 0; n < 4000; n++) {
    const [f, g] = n === 0 ? [all(6), all(6)] : [limbsOf(6), limbsOf(6)];
    const [h, k] = n === 0 ? [all(3), all(3)] : [limbsOf(3), limbsOf(3)];
    put(a, 0, f);
    put(a, 1, g);
    put(b, 0, h);
    put(b, 1, k);
    engine.run.multiply(c, a, b);
    check(t, c, 0, integer(f) * integer(h));
    check(t, c, 1, integer(g) * integer(k));
  }
});

t.test('squares', async (t) => {
  for (let n = 0; n < 4000; n++) {
    const [f, g] = n === 0 ? [all(3), all(3)] : [limbsOf(3), limbsOf(3)];
    put(a, 0, f);
    put(a, 1, g);
    engine.run.square(c, a);
    check(t, c, 0, integer(f) ** 2n);
    check(t, c, 1, integer(g) ** 2n);
    engine.run.squareTimes(c, a, 3);
    check(t, c, 0, integer(f) ** 8n);
  }
});
