/**
 * Arithmetic modulo the order q of the base point, in WebAssembly: Montgomery's multiplication with
 * R = 2^261, on nine limbs of 29 bits as in field.ts. Here limbs are always carried.
 *
 * Nothing branches or reads memory depending on the values.
 */
import { type Assembler, type Code, get, i64, set } from '../../wasm/assembler.ts';
import { indices, LIMB_BITS, LIMBS, subtractIfNotBelow } from './field.ts';

export const Q = 0xffffffff_ffffffff_ffffffff_ffffffff_6c611070_995ad100_45841b09_b761b893n;
const MASK = 2n ** 29n - 1n;

const { const: constant, add, mul, and, shiftRight, load32, store32 } = i64;
const mask = constant(MASK);
const limbOfQ = (i: number): Code => constant((Q >> BigInt(LIMB_BITS * i)) & MASK);

/** −q^(−1) modulo 2^29. */
const negativeInverse = (() => {
  let inverse = 1n;
  for (let bits = 1; bits < LIMB_BITS; bits *= 2) inverse = (inverse * (2n - Q * inverse)) & MASK;
  return (2n ** 29n - inverse) & MASK;
})();

export function defineScalars(module: Assembler): void {
  // (target, a, b): a · b / R modulo q. Factors below 4q give a result below 2q.
  module.define('multiplyScalars', 3, (scope) => {
    const a = scope.locals('i64', LIMBS);
    const b = scope.locals('i64', LIMBS);
    const columns = scope.locals('i64', 2 * LIMBS);
    const factor = scope.local('i64');
    const column = (k: number) =>
      indices
        .filter((i) => k - i >= 0 && k - i < LIMBS)
        .map((i) => mul(get(a[i]!), get(b[k - i]!)))
        .reduce((x, y) => add(x, y), constant(0n));
    return [
      ...a.flatMap((local, i) => set(local, load32(get(1), 4 * i))),
      ...b.flatMap((local, i) => set(local, load32(get(2), 4 * i))),
      ...columns.flatMap((local, k) => set(local, column(k))),
      ...indices.flatMap((i) => reduceLowest(columns.slice(i), factor)),
      ...carryAndStore(columns.slice(LIMBS), (local) => get(local)),
    ];
  });

  // (target, a, b): a + b, not reduced.
  module.define('addScalars', 3, (scope) => {
    const limbs = scope.locals('i64', LIMBS);
    return [
      ...limbs.flatMap((local, i) => set(local, add(load32(get(1), 4 * i), load32(get(2), 4 * i)))),
      ...carryAndStore(limbs, (local) => get(local)),
    ];
  });

  // (target, a): the representative below q of a value below 4q.
  module.define('canonicalScalar', 2, (scope) => {
    const limbs = scope.locals('i64', LIMBS);
    const difference = scope.locals('i64', LIMBS);
    const borrow = scope.local('i64');
    return [
      ...limbs.flatMap((local, i) => set(local, load32(get(1), 4 * i))),
      ...subtractIfNotBelow(Q, limbs, difference, borrow),
      ...subtractIfNotBelow(Q, limbs, difference, borrow),
      ...subtractIfNotBelow(Q, limbs, difference, borrow),
      ...limbs.flatMap((local, i) => store32(get(0), 4 * i, get(local))),
    ];
  });
}

/** Adds the multiple of q that makes the lowest column divisible by 2^29, and carries it. */
function reduceLowest(columns: readonly number[], factor: number): Code {
  const [lowest, next] = [columns[0]!, columns[1]!];
  return [
    ...set(factor, and(mul(get(lowest), constant(negativeInverse)), mask)),
    ...indices.flatMap((i) =>
      set(columns[i]!, add(get(columns[i]!), mul(get(factor), limbOfQ(i)))),
    ),
    ...set(next, add(get(next), shiftRight(get(lowest), LIMB_BITS))),
  ];
}

function carryAndStore(limbs: readonly number[], value: (local: number) => Code): Code {
  return limbs.flatMap((local, i) => [
    ...(i === 0 ? [] : set(local, add(value(local), shiftRight(get(limbs[i - 1]!), LIMB_BITS)))),
    ...store32(get(0), 4 * i, i === LIMBS - 1 ? get(local) : and(get(local), mask)),
  ]);
}
