/**
 * Arithmetic modulo p = 2^255 − 19 in WebAssembly, on two elements at a time.
 *
 * An element is ten limbs, of 26 and 25 bits in turn, each in 32 bits; the i-th begins at bit
 * ⌈25.5 i⌉. A pair of elements a, b is five vectors: the k-th is (a2k, b2k, a2k+1, b2k+1). Reduction
 * is lazy: limbs may be larger than their bits, and a value is any representative of its class. The
 * magnitude of an element is the smallest integer m such that each limb is at most
 * m · (2^bits + 2^17). A product takes a first factor of magnitude 6 at most and a second of 3 at most,
 * so that 19 times a limb of the second fits into 32 bits, and a column into 64.
 *
 * It serves the check of signatures, where nothing is secret. Targets may be sources.
 */
import {
  type Assembler,
  type Code,
  doWhile,
  type FunctionScope,
  get,
  i32,
  i64,
  set,
  v128,
} from '../../wasm/assembler.ts';

export const LIMBS = 10;
export const VECTORS = LIMBS / 2;
export const PAIR_BYTES = 16 * VECTORS;

export const bitsOf = (limb: number): number => (limb % 2 === 0 ? 26 : 25);
/** The bit of a number at which a limb begins. */
export const bitOf = (limb: number): number => Math.ceil(25.5 * limb);

/** A limb of 2p. It is larger than that of an element of magnitude 1. */
export const biasOf = (limb: number): number => 2 ** (bitsOf(limb) + 1) - (limb === 0 ? 38 : 2);

const indices = Array.from({ length: LIMBS }, (_, i) => i);
const vectors = Array.from({ length: VECTORS }, (_, k) => k);

const otherLimb = (vector: Code): Code => v128.shuffle32(vector, vector, [2, 3, 0, 1]);
const times19 = (vector: Code): Code => v128.mul32(vector, v128.const32([19, 19, 19, 19]));
const sum = (terms: readonly Code[]): Code => terms.reduce((a, b) => v128.add64(a, b));

export const loadPair = (pair: readonly number[], address: Code): Code =>
  pair.map((local, k) => set(local, v128.load(address, 16 * k)));
export const storePair = (address: Code, pair: readonly number[]): Code =>
  pair.map((local, k) => v128.store(address, 16 * k, get(local)));

export function definePairField(module: Assembler): void {
  // (target, a, b): both products, of magnitude 1.
  module.define('multiply', 3, (scope) => {
    const a = multiplesOf(scope, get(1), [1, 2]);
    const b = secondFactor(scope, get(2));
    return [
      ...a.code,
      ...b.code,
      ...reduce(scope, (k) => sum(indices.map((i) => term(a, b, i, (k - i + LIMBS) % LIMBS)))),
    ];
  });

  // (target, a): both squares, of magnitude 1. The pair has magnitude 3 at most.
  module.define('square', 2, (scope) => {
    const a = multiplesOf(scope, get(1), [1, 2, 4]);
    const b = secondFactor(scope, get(1));
    const terms = (k: number): Code[] =>
      indices
        .map((i) => [i, (k - i + LIMBS) % LIMBS] as const)
        .filter(([i, j]) => i <= j)
        .map(([i, j]) => term(a, b, i, j, i < j ? 2 : 1));
    return [...a.code, ...b.code, ...reduce(scope, (k) => sum(terms(k)))];
  });

  // (target, a, n): squares n times, n ≥ 1.
  module.define('squareTimes', 3, () => [
    ...vectors.map((k) => v128.store(get(0), 16 * k, v128.load(get(1), 16 * k))),
    ...doWhile(
      [module.call('square', get(0), get(0)), set(2, i32.sub(get(2), i32.const(1)))],
      get(2),
    ),
  ]);

  // (target, a): the second element of the pair, twice.
  module.define('secondTwice', 2, () =>
    vectors.map((k) => {
      const vector = v128.load(get(1), 16 * k);
      return v128.store(get(0), 16 * k, v128.shuffle32(vector, vector, [1, 1, 3, 3]));
    }),
  );
}

interface FirstFactor {
  readonly code: Code;
  /** The local variables of the vectors, by factor. */
  readonly times: ReadonlyMap<number, readonly number[]>;
}

function multiplesOf(scope: FunctionScope, address: Code, factors: readonly number[]): FirstFactor {
  const times = new Map(factors.map((factor) => [factor, scope.locals('v128', VECTORS)]));
  const one = times.get(1)!;
  const code = [
    ...loadPair(one, address),
    ...factors
      .filter((factor) => factor > 1)
      .flatMap((factor) =>
        vectors.map((k) =>
          set(times.get(factor)![k]!, v128.shiftLeft32(get(one[k]!), Math.log2(factor))),
        ),
      ),
  ];
  return { code, times };
}

/** A limb j of the second factor in the lanes of limb i of the first, times 19 where i + j ≥ 10. */
interface SecondFactor {
  readonly code: Code;
  vector(i: number, j: number): Code;
}

function secondFactor(scope: FunctionScope, address: Code): SecondFactor {
  const [same, same19, other, other19] = Array.from({ length: 4 }, () =>
    scope.locals('v128', VECTORS),
  ) as [number[], number[], number[], number[]];
  return {
    code: [
      ...loadPair(same, address),
      ...vectors.flatMap((k) => [
        ...set(same19[k]!, times19(get(same[k]!))),
        ...set(other[k]!, otherLimb(get(same[k]!))),
        ...set(other19[k]!, otherLimb(get(same19[k]!))),
      ]),
    ],
    vector(i, j) {
      const wraps = i + j >= LIMBS;
      const pair = i % 2 === j % 2 ? (wraps ? same19 : same) : wraps ? other19 : other;
      return get(pair[j >> 1]!);
    },
  };
}

/** Two limbs of 25 bits meet at a bit above that of their column. */
function term(a: FirstFactor, b: SecondFactor, i: number, j: number, factor = 1): Code {
  const first = a.times.get(i % 2 === 1 && j % 2 === 1 ? 2 * factor : factor)![i >> 1]!;
  const multiply = i % 2 === 0 ? v128.multiplyLow : v128.multiplyHigh;
  return multiply(get(first), b.vector(i, j));
}

/** Two chains at a time; the second visit of a limb is for what its first carry brought. */
const CARRIES = [0, 4, 1, 5, 2, 6, 3, 7, 4, 8, 9, 0];

/** Carries the columns and stores them at the first parameter. */
function reduce(scope: FunctionScope, column: (k: number) => Code): Code {
  const columns = scope.locals('v128', LIMBS);
  const carry = scope.local('v128');
  const mask = (limb: number): Code => v128.splat64(i64.const(2n ** BigInt(bitsOf(limb)) - 1n));
  const carry19 = sum([
    v128.shiftLeft64(get(carry), 4),
    v128.shiftLeft64(get(carry), 1),
    get(carry),
  ]);
  return [
    ...columns.flatMap((local, k) => set(local, column(k))),
    ...CARRIES.flatMap((i) => {
      const [from, to] = [columns[i]!, columns[(i + 1) % LIMBS]!];
      return [
        ...set(carry, v128.shiftRight64(get(from), bitsOf(i))),
        ...set(to, v128.add64(get(to), i === LIMBS - 1 ? carry19 : get(carry))),
        ...set(from, v128.and(get(from), mask(i))),
      ];
    }),
    ...vectors.flatMap((k) => {
      const [even, odd] = [get(columns[2 * k]!), get(columns[2 * k + 1]!)];
      return v128.store(get(0), 16 * k, v128.shuffle32(even, odd, [0, 2, 4, 6]));
    }),
  ];
}

/** Brings a pair of local variables to magnitude 1: each limb gives what is above its bits to the next. */
export function carryPair(pair: readonly number[], carries: readonly number[]): Code {
  const [even, odd] = [v128.const32([-1, -1, 0, 0]), v128.const32([0, 0, -1, -1])];
  const above = (k: number): Code =>
    v128.or(
      v128.and(v128.shiftRight32(get(pair[k]!), 26), even),
      v128.and(v128.shiftRight32(get(pair[k]!), 25), odd),
    );
  const masks = v128.const32([2 ** 26 - 1, 2 ** 26 - 1, 2 ** 25 - 1, 2 ** 25 - 1]);
  return [
    ...vectors.flatMap((k) => set(carries[k]!, above(k))),
    ...vectors.flatMap((k) => {
      const before = carries[(k + VECTORS - 1) % VECTORS]!;
      const brought = v128.shuffle32(get(before), get(carries[k]!), [2, 3, 4, 5]);
      const folded = k === 0 ? v128.mul32(brought, v128.const32([19, 19, 1, 1])) : brought;
      return set(pair[k]!, v128.add32(v128.and(get(pair[k]!), masks), folded));
    }),
  ];
}
