import t from 'tap';
import { P } from '../../../../src/crypto/curve25519/field.ts';
import { ELEMENTS_BYTES, Elements } from '../../../../src/crypto/curve25519/wasm/elements.ts';
import { createPairEngine } from '../../../../src/crypto/curve25519/wasm/engine.ts';
import { bitOf, bitsOf, PAIR_BYTES } from '../../../../src/crypto/curve25519/wasm/pair-field.ts';
import { seededRandom } from '../../random.ts';

const random = seededRandom('elements');
const engine = createPairEngine(ELEMENTS_BYTES + PAIR_BYTES);
const elements = new Elements(engine);
const pair = engine.reserve(PAIR_BYTES);
const words = new Uint32Array(engine.memory);
const any = (): bigint => BigInt(`0x${Buffer.from(random.bytes(40)).toString('hex')}`) % P;

t.test('inverses', async (t) => {
  for (let n = 0; n < 50; n++) {
    const [a, b] = [any(), any()];
    elements.put(pair, 0, a);
    elements.put(pair, 1, b);
    elements.invert(pair, pair);
    t.equal((elements.take(pair, 0) * a) % P, 1n);
    t.equal((elements.take(pair, 1) * b) % P, 1n);
  }
  elements.put(pair, 0, 0n);
  elements.invert(pair, pair);
  t.equal(elements.take(pair, 0), 0n);
});

t.test('the power that serves to find roots', async (t) => {
  const a = any();
  elements.put(pair, 0, a);
  elements.rootPower(pair, pair);
  let power = 1n;
  for (let rest = 2n ** 252n - 3n, square = a; rest > 0n; rest >>= 1n) {
    if (rest & 1n) power = (power * square) % P;
    square = (square * square) % P;
  }
  t.equal(elements.take(pair, 0), power);
});

t.test('the representative below p', async (t) => {
  const largest = Array.from({ length: 10 }, (_, i) => 2 ** bitsOf(i) - 1);
  const ofP = largest.map((limb, i) => (i === 0 ? limb - 18 : limb));
  const cases = [
    Array<number>(10).fill(0),
    ofP,
    ofP.with(0, ofP[0]! - 1),
    ofP.with(0, ofP[0]! + 1),
    largest,
    largest.with(0, 2 ** 26),
    largest.with(0, 2 ** 26 + 2 ** 17),
    largest.map((limb) => limb + 2 ** 17),
    largest.map((limb, i) => (i % 2 === 0 ? limb : 0)),
    largest.with(9, 2 ** 25 + 5),
  ];
  const limbs = new Int32Array(10);
  const integer = (of: Iterable<number>): bigint =>
    [...of].reduce((total, limb, i) => total + (BigInt(limb) << BigInt(bitOf(i))), 0n);
  for (const one of cases) {
    for (const [i, limb] of one.entries()) {
      words[pair / 4 + 4 * (i >> 1) + 2 * (i & 1) + 1] = limb;
    }
    elements.canonical(limbs, pair, 1);
    t.equal(integer(limbs), integer(one) % P);
    t.ok(limbs.every((limb, i) => limb >= 0 && limb < 2 ** bitsOf(i)));
  }
});
