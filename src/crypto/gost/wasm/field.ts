/**
 * Arithmetic modulo p = 2^256 − 617 in WebAssembly.
 *
 * An element is nine limbs of 29 bits, little-endian, each in 32 bits; with three unused lanes it
 * fills three vectors. Reduction is lazy: limbs may be larger than 29 bits, and a value is any
 * representative of its class. The magnitude of an element is the smallest integer m such that all
 * its limbs are below m · (2^29 + 2^22). Each function says which magnitudes it takes and returns;
 * `points.ts` tracks them.
 *
 * Nothing here branches or reads memory depending on the values, so secrets do not show in the time,
 * as far as the engine compiles multiplications to instructions of constant time.
 */
import { type Assembler, type Code, get, i64, set, v128 } from '../../wasm/assembler.ts';

export const P = 2n ** 256n - 617n;
export const LIMBS = 9;
export const LIMB_BITS = 29;
export const ELEMENT_BYTES = 48;
const MASK = 2n ** 29n - 1n;
/** 2^261, where the tenth limb would begin, is congruent to 32 · 617. */
const FOLD = 32n * 617n;

/** The factors of a product are such that the product of their magnitudes is at most this. */
export const PRODUCT_MAGNITUDE_MAX = 6;
/** `subtract` takes a minuend and a subtrahend of at most these magnitudes. */
export const MINUEND_MAGNITUDE_MAX = 3;
export const SUBTRAHEND_MAGNITUDE_MAX = 2;
/** The largest magnitude whose limbs fit into 32 bits. */
export const MAGNITUDE_MAX = 7;

const { const: constant, add, mul, and, shiftRight, shiftLeft, load32, store32 } = i64;
const mask = constant(MASK);
const sum = (terms: readonly Code[]): Code => terms.reduce((a, b) => add(a, b));
export const indices = Array.from({ length: LIMBS }, (_, i) => i);

/** A multiple of p whose limbs are all larger than those of a subtrahend. */
const bias = limbsOfBias();

function limbsOfBias(): number[] {
  const least = indices.reduce((total, i) => total + (3n << BigInt(29 * i + 29)), 0n);
  let rest = (least / P + 1n) * P - least;
  return indices.map(() => {
    const limb = Number(3n * 2n ** 29n + (rest & MASK));
    rest >>= 29n;
    return limb;
  });
}

export function defineField(module: Assembler): void {
  defineProducts(module);
  defineSums(module);
  defineCanonical(module);
}

function defineProducts(module: Assembler): void {
  // (target, a, b): the product, of magnitude 1.
  module.define('multiply', 3, (scope) => {
    const a = scope.locals('i64', LIMBS);
    const b = scope.locals('i64', LIMBS);
    const column = (k: number) =>
      sum(
        indices
          .filter((i) => k - i >= 0 && k - i < LIMBS)
          .map((i) => mul(get(a[i]!), get(b[k - i]!))),
      );
    return [
      ...a.flatMap((local, i) => set(local, load32(get(1), 4 * i))),
      ...b.flatMap((local, i) => set(local, load32(get(2), 4 * i))),
      ...reduceColumns(scope.locals('i64', LIMBS), scope.local('i64'), column),
    ];
  });

  // (target, a): the square of an element of magnitude at most 2, of magnitude 1.
  module.define('square', 2, (scope) => {
    const a = scope.locals('i64', LIMBS);
    const doubled = scope.locals('i64', LIMBS);
    const column = (k: number) =>
      sum(
        indices
          .filter((i) => k - i >= i && k - i < LIMBS)
          .map((i) => mul(get(k === 2 * i ? a[i]! : doubled[i]!), get(a[k - i]!))),
      );
    return [
      ...a.flatMap((local, i) => set(local, load32(get(1), 4 * i))),
      ...a.flatMap((local, i) => set(doubled[i]!, shiftLeft(get(local), 1))),
      ...reduceColumns(scope.locals('i64', LIMBS), scope.local('i64'), column),
    ];
  });

  // (target, a): a times the small coefficient b = 166 of the curve, of magnitude 1.
  module.define('timesB', 2, (scope) => {
    const low = scope.locals('i64', LIMBS);
    const carry = scope.local('i64');
    const term = (i: number) => mul(load32(get(1), 4 * i), constant(166n));
    return [...set(carry, constant(0n)), ...carryThrough(low, carry, term), ...storeLimbs(low)];
  });
}

function defineSums(module: Assembler): void {
  // (target, a, b): the sum; its magnitude is the sum of theirs.
  module.define('add', 3, () =>
    [0, 16, 32].flatMap((at) =>
      v128.store(get(0), at, v128.add32(v128.load(get(1), at), v128.load(get(2), at))),
    ),
  );

  // (target, a, b): the difference, of magnitude 1.
  module.define('subtract', 3, (scope) => {
    const part = (k: number) =>
      v128.sub32(
        v128.add32(
          v128.load(get(1), 16 * k),
          v128.const32([0, 1, 2, 3].map((i) => bias[4 * k + i] ?? 0)),
        ),
        v128.load(get(2), 16 * k),
      );
    return carryVectors(scope.locals('v128', 3), scope.locals('v128', 3), part);
  });

  // (target, a): the same value with magnitude 1.
  module.define('carry', 2, (scope) =>
    carryVectors(scope.locals('v128', 3), scope.locals('v128', 3), (k) =>
      v128.load(get(1), 16 * k),
    ),
  );
}

/**
 * Reduces a product given by its columns: the upper half is carried first, so that it can be folded
 * into the lower one.
 */
function reduceColumns(low: number[], carry: number, column: (k: number) => Code): Code {
  const folded = low; // The upper limbs wait in the variables of the lower ones.
  return [
    ...set(carry, column(LIMBS)),
    ...indices
      .slice(0, LIMBS - 1)
      .flatMap((i) => [
        ...set(folded[i]!, and(get(carry), mask)),
        ...set(
          carry,
          i + LIMBS + 1 < 2 * LIMBS - 1
            ? add(shiftRight(get(carry), LIMB_BITS), column(i + LIMBS + 1))
            : shiftRight(get(carry), LIMB_BITS),
        ),
      ]),
    ...set(folded[LIMBS - 1]!, get(carry)),
    ...set(carry, constant(0n)),
    ...carryThrough(low, carry, (i) => add(column(i), mul(get(folded[i]!), constant(FOLD)))),
    ...storeLimbs(low),
  ];
}

/** Carries the terms through the limbs, and what is above the last one into the first two. */
function carryThrough(low: number[], carry: number, term: (i: number) => Code): Code {
  const [first, second] = [low[0]!, low[1]!];
  return [
    ...low.flatMap((local, i) => [
      ...set(carry, add(get(carry), term(i))),
      ...set(local, and(get(carry), mask)),
      ...set(carry, shiftRight(get(carry), LIMB_BITS)),
    ]),
    ...set(first, add(get(first), mul(get(carry), constant(FOLD)))),
    ...set(second, add(get(second), shiftRight(get(first), LIMB_BITS))),
    ...set(first, and(get(first), mask)),
  ];
}

const storeLimbs = (low: readonly number[]): Code => [
  ...low.flatMap((local, i) => store32(get(0), 4 * i, get(local))),
];

/** One carry of all limbs at once. */
function carryVectors(value: number[], high: number[], part: (k: number) => Code): Code {
  const lanes = v128.const32([Number(MASK), Number(MASK), Number(MASK), Number(MASK)]);
  const folded = v128.mul32(get(high[2]!), v128.const32([Number(FOLD), 0, 0, 0]));
  const above = [
    v128.shuffle32(folded, get(high[0]!), [0, 4, 5, 6]),
    v128.shuffle32(get(high[0]!), get(high[1]!), [3, 4, 5, 6]),
    v128.shuffle32(get(high[1]!), get(high[2]!), [3, 5, 5, 5]),
  ];
  return [
    ...value.flatMap((local, k) => [
      ...set(local, part(k)),
      ...set(high[k]!, v128.shiftRight32(get(local), LIMB_BITS)),
    ]),
    ...value.flatMap((local, k) =>
      v128.store(get(0), 16 * k, v128.add32(v128.and(get(local), lanes), above[k]!)),
    ),
  ];
}

/** (target, a): the representative below p of an element of magnitude 1. */
function defineCanonical(module: Assembler): void {
  module.define('canonical', 2, (scope) => {
    const low = scope.locals('i64', LIMBS);
    const carry = scope.local('i64');
    const difference = scope.locals('i64', LIMBS);
    const last = low[LIMBS - 1]!;
    const foldTop: Code = [
      // 2^256 is bit 24 of the last limb.
      ...set(carry, mul(shiftRight(get(last), 24), constant(617n))),
      ...set(last, and(get(last), constant(2n ** 24n - 1n))),
      ...low
        .slice(0, -1)
        .flatMap((local) => [
          ...set(carry, add(get(carry), get(local))),
          ...set(local, and(get(carry), mask)),
          ...set(carry, shiftRight(get(carry), LIMB_BITS)),
        ]),
      ...set(last, add(get(last), get(carry))),
    ];
    return [
      ...low.flatMap((local, i) => set(local, load32(get(1), 4 * i))),
      ...foldTop,
      ...foldTop,
      ...subtractIfNotBelow(P, low, difference, carry),
      ...storeLimbs(low),
    ];
  });
}

/** Subtracts the modulus from a carried value unless it is smaller, without a branch. */
export function subtractIfNotBelow(
  modulus: bigint,
  value: readonly number[],
  difference: readonly number[],
  borrow: number,
): Code {
  const limb = (i: number) => (modulus >> BigInt(LIMB_BITS * i)) & MASK;
  return [
    ...set(borrow, constant(0n)),
    ...value.flatMap((local, i) => [
      ...set(borrow, add(get(borrow), i64.sub(get(local), constant(limb(i))))),
      ...set(difference[i]!, and(get(borrow), mask)),
      ...set(borrow, i64.shiftRightSigned(get(borrow), LIMB_BITS)),
    ]),
    // The borrow is −1 if the value is below the modulus, otherwise 0.
    ...value.flatMap((local, i) =>
      set(
        local,
        i64.or(
          and(get(local), get(borrow)),
          and(get(difference[i]!), i64.xor(get(borrow), constant(-1n))),
        ),
      ),
    ),
  ];
}
