// The generated WebAssembly against integers: the field, the scalars, and the limits of lazy reduction.
import t from 'tap';
import { createLimbs } from '../../../src/crypto/gost/limbs.ts';
import { CHUNK_DIGITS, CHUNKS, recode } from '../../../src/crypto/gost/recoding.ts';
import { createScalars } from '../../../src/crypto/gost/scalars.ts';
import { createEngine } from '../../../src/crypto/gost/wasm/engine.ts';
import {
  ELEMENT_BYTES,
  LIMB_BITS,
  LIMBS,
  MAGNITUDE_MAX,
  PRODUCT_MAGNITUDE_MAX,
} from '../../../src/crypto/gost/wasm/field.ts';
import { seededRandom } from '../random.ts';
import { integer, P, Q } from './reference.ts';

const engine = createEngine(0);
const { run } = engine;
const limbs = createLimbs(engine.memory);
const scalars = createScalars(engine, limbs);
const memory = new Uint32Array(engine.memory);
const random = seededRandom('arithmetic');
const [a, b, c, d] = [0, 1, 2, 3].map(() => engine.reserve(ELEMENT_BYTES)) as Four;
type Four = [number, number, number, number];
const R = 2n ** 261n;

const limbOf = (at: number, i: number): number => memory[at / 4 + i]!;
const value = (at: number): bigint =>
  Array.from({ length: LIMBS }, (_, i) => BigInt(limbOf(at, i)) << BigInt(LIMB_BITS * i)).reduce(
    (sum, limb) => sum + limb,
  );
const isTight = (at: number): boolean =>
  Array.from({ length: LIMBS }, (_, i) => limbOf(at, i)).every((limb) => limb < 2 ** 29 + 2 ** 22);
const extremes = [0n, 1n, P - 1n, P, P + 1n, Q - 1n, Q, Q + 1n, 2n ** 256n - 1n, 2n ** 255n];
const numbers = [...extremes, ...Array.from({ length: 90 }, () => integer(random.bytes(32)))];
const same = (x: bigint, y: bigint, modulus: bigint) => (x - y) % modulus === 0n;

function checkAll(name: string, holds: (x: bigint, y: bigint) => boolean): void {
  t.test(name, async (t) => {
    for (const x of numbers) {
      for (const y of numbers) {
        limbs.putInteger(a, x);
        limbs.putInteger(b, y);
        if (!holds(x, y)) t.fail(`${x} and ${y}`);
      }
    }
    t.pass('for all pairs');
  });
}

checkAll('products', (x, y) => {
  run.multiply(c, a, b);
  const isProduct = same(value(c), x * y, P) && isTight(c);
  run.canonical(c, c);
  return isProduct && value(c) === (x * y) % P;
});
checkAll('squares of sums', (x, y) => {
  run.add(d, a, b);
  run.square(c, d);
  return same(value(c), (x + y) ** 2n, P) && isTight(c);
});
checkAll('differences', (x, y) => {
  run.subtract(c, a, b);
  return same(value(c), x - y, P) && isTight(c);
});
checkAll('scalars', (x, y) => {
  run.multiplyScalars(c, a, b);
  const isProduct = same(value(c) * R, x * y, Q) && value(c) < 2n * Q;
  scalars.multiply(c, a, b);
  scalars.reduceWide(d, a, b);
  return isProduct && value(c) === (x * y) % Q && value(d) === (x + (y << 256n)) % Q;
});

t.test('operands of the largest magnitudes', async (t) => {
  const fill = (at: number, magnitude: number) =>
    memory.fill(magnitude * (2 ** 29 + 2 ** 22) - 1, at / 4, at / 4 + LIMBS);
  for (const magnitude of [1, 2]) {
    fill(a, magnitude);
    fill(b, PRODUCT_MAGNITUDE_MAX / magnitude);
    run.multiply(c, a, b);
    t.ok(same(value(c), value(a) * value(b), P) && isTight(c), 'product');
    run.square(c, a);
    t.ok(same(value(c), value(a) ** 2n, P) && isTight(c), 'square');
  }
  fill(a, 3);
  fill(b, 2);
  run.subtract(c, a, b);
  t.ok(same(value(c), value(a) - value(b), P) && isTight(c), 'difference');
  fill(a, MAGNITUDE_MAX);
  run.carry(c, a);
  t.ok(same(value(c), value(a), P) && isTight(c), 'carry');
  run.timesB(c, a);
  t.ok(same(value(c), 166n * value(a), P) && isTight(c), 'multiple');
  fill(a, 1);
  run.canonical(c, a);
  t.equal(value(c), value(a) % P, 'canonical');
});

t.test('inverses', async (t) => {
  for (const x of numbers) {
    limbs.putInteger(a, x);
    scalars.invert(c, a);
    t.equal((value(c) * x) % Q, x % Q === 0n ? 0n : 1n);
  }
});

t.test('conversions', async (t) => {
  for (const x of numbers) {
    limbs.putInteger(a, x);
    t.equal(value(a), x);
    const bytes = limbs.takeLittleEndian(a);
    t.equal(integer(bytes), x);
    t.strictSame(limbs.takeBigEndian(a), bytes.slice().reverse());
    limbs.putLittleEndian(b, bytes);
    limbs.putBigEndian(c, bytes.slice().reverse());
    t.equal(value(b), x);
    t.equal(value(c), x);
    t.equal(limbs.isZero(a), x === 0n);
  }
});

t.test('digits add up to the number, are odd and small', async (t) => {
  const digits = new Int8Array(CHUNKS * CHUNK_DIGITS);
  for (const width of [5, 8]) {
    for (const x of numbers) {
      limbs.putInteger(a, x);
      recode(digits, limbs.words(a), width);
      let sum = 0n;
      for (const [i, digit] of digits.entries()) {
        const place = 64 * Math.floor(i / CHUNK_DIGITS) + (i % CHUNK_DIGITS);
        sum += BigInt(digit) << BigInt(place);
      }
      t.equal(sum, x);
      t.ok(
        digits.every(
          (digit) => digit === 0 || (digit % 2 !== 0 && Math.abs(digit) < 2 ** (width - 1)),
        ),
      );
    }
  }
});
