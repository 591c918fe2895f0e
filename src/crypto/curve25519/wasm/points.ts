/**
 * Points of Curve25519 in WebAssembly, in the Edwards form −x² + y² = 1 + d x² y².
 *
 * A point is two pairs, (X, Y) and (T, Z), of magnitude 1, with x = X/Z, y = Y/Z and T = XY/Z. A term
 * is a point prepared for additions: the pairs (Y − X, Y + X) and (2dT, 2Z). The formulas hold for any
 * two points, equal, opposite, neutral or of small order (Hisil, Wong, Carter and Dawson 2008, for
 * a = −1), since d is no square. Targets may be sources.
 */
import { type Assembler, type Code, get, i32, set, v128 } from '../../wasm/assembler.ts';
import { biasOf, carryPair, PAIR_BYTES, storePair, VECTORS } from './pair-field.ts';

export const POINT_BYTES = 2 * PAIR_BYTES;
export const TERM_BYTES = 2 * PAIR_BYTES;
/** Three pairs of the functions' own. */
export const TEMPORARY_BYTES = 3 * PAIR_BYTES;

type Vector = (k: number) => Code;

const vectors = Array.from({ length: VECTORS }, (_, k) => k);
const ofFirst = v128.const32([-1, 0, -1, 0]);
const ofSecond = v128.const32([0, -1, 0, -1]);

const swapped = (vector: Code): Code => v128.shuffle32(vector, vector, [1, 0, 3, 2]);
/** The negative of the elements that the lanes name, and the others unchanged. */
const negated = (vector: Code, lanes: Code): Code => v128.sub32(v128.xor(vector, lanes), lanes);

/** Makes a difference positive in the lanes of the first or the second element. */
function bias(k: number, element: 0 | 1): Code {
  const [even, odd] = [biasOf(2 * k), biasOf(2 * k + 1)];
  return v128.const32(element === 0 ? [even, 0, odd, 0] : [0, even, 0, odd]);
}

/** (a, b) → (a − b, a + b), of magnitudes 3 and 2 where the pair has 1. */
const differenceAndSum = (pair: Vector, k: number): Code =>
  v128.add32(v128.add32(pair(k), bias(k, 0)), negated(swapped(pair(k)), ofFirst));

/** (a, b) → (b − a, b + a). */
const reverseDifferenceAndSum = (pair: Vector, k: number): Code =>
  differenceAndSum((k) => swapped(pair(k)), k);

const at = (address: Code, bytes: number): Code =>
  bytes === 0 ? address : i32.add(address, i32.const(bytes));
const loaded =
  (address: Code): Vector =>
  (k) =>
    v128.load(address, 16 * k);
const held =
  (pair: readonly number[]): Vector =>
  (k) =>
    get(pair[k]!);

export function definePoints(module: Assembler, temporaries: number): void {
  const place = (n: number): Code => i32.const(temporaries + n * PAIR_BYTES);
  const own: Temporaries = [place(0), place(1), place(2)];
  defineAdditions(module, own);
  defineDoubling(module, own);
  defineTerms(module);
}

/** The addresses of three pairs. */
type Temporaries = readonly [Code, Code, Code];

const put = (address: Code, pair: Vector): Code =>
  vectors.flatMap((k) => v128.store(address, 16 * k, pair(k)));
const hold = (pair: readonly number[], value: Vector): Code =>
  vectors.flatMap((k) => set(pair[k]!, value(k)));

/** Puts the point (EF, HG), (EH, FG) at the first parameter. */
function finish(module: Assembler, [first, second]: Temporaries, eh: Vector, fg: Vector): Code {
  return [
    ...put(first, eh),
    ...put(second, fg),
    module.call('multiply', get(0), first, second),
    ...put(first, (k) => v128.shuffle32(eh(k), fg(k), [0, 4, 2, 6])),
    ...put(second, (k) => v128.shuffle32(eh(k), fg(k), [1, 5, 3, 7])),
    module.call('multiply', at(get(0), PAIR_BYTES), first, second),
  ];
}

/** A = (Y1 − X1)(Y2 − X2), B = (Y1 + X1)(Y2 + X2), C = 2d T1 T2, D = 2 Z1 Z2. */
function defineAdditions(module: Assembler, own: Temporaries): void {
  const [first, second, third] = own;
  // (target, point, term): the sum, or the difference.
  for (const [name, isDifference] of [
    ['addTerm', false],
    ['subtractTerm', true],
  ] as const) {
    const opposite = (pair: Vector): Vector => (isDifference ? (k) => swapped(pair(k)) : pair);
    module.define(name, 3, (scope) => {
      const [eh, fg] = [scope.locals('v128', VECTORS), scope.locals('v128', VECTORS)];
      return [
        ...put(first, (k) => reverseDifferenceAndSum(loaded(get(1)), k)),
        ...put(second, opposite(loaded(get(2)))),
        module.call('multiply', third, first, second),
        module.call('multiply', second, at(get(1), PAIR_BYTES), at(get(2), PAIR_BYTES)),
        // E = B − A, H = B + A; F = D − C, G = D + C, where C has the other sign in a difference.
        ...hold(eh, (k) => reverseDifferenceAndSum(loaded(third), k)),
        ...hold(
          fg,
          opposite((k) => reverseDifferenceAndSum(loaded(second), k)),
        ),
        ...finish(module, own, held(eh), held(fg)),
      ];
    });
  }
}

/** A = X², B = Y². */
function defineDoubling(module: Assembler, own: Temporaries): void {
  const [, second, third] = own;
  // (target, point): twice the point.
  module.define('doublePoint', 2, (scope) => {
    const [gh, fe] = [scope.locals('v128', VECTORS), scope.locals('v128', VECTORS)];
    const xy = loaded(get(1));
    const tz = loaded(at(get(1), PAIR_BYTES));
    const squares = loaded(second);
    return [
      // (Z, X + Y).
      ...put(second, (k) => v128.shuffle32(tz(k), v128.add32(xy(k), swapped(xy(k))), [1, 4, 3, 6])),
      module.call('square', third, get(1)),
      module.call('square', second, second),
      // G = A − B, H = A + B; F = G + 2 Z², E = H − (X + Y)²: each with the other sign.
      ...hold(gh, (k) => differenceAndSum(loaded(third), k)),
      ...hold(fe, (k) =>
        v128.add32(
          v128.add32(held(gh)(k), bias(k, 1)),
          v128.add32(negated(squares(k), ofSecond), v128.and(squares(k), ofFirst)),
        ),
      ),
      ...carryPair(fe, scope.locals('v128', VECTORS)),
      ...finish(
        module,
        own,
        (k) => v128.shuffle32(held(fe)(k), held(gh)(k), [1, 5, 3, 7]),
        (k) => v128.shuffle32(held(fe)(k), held(gh)(k), [0, 4, 2, 6]),
      ),
    ];
  });
}

function defineTerms(module: Assembler): void {
  // (target, point, constants): the term of a point, the constants being the pair (2d, 2).
  module.define('termOf', 3, (scope) => {
    const pair = scope.locals('v128', VECTORS);
    return [
      ...hold(pair, (k) => reverseDifferenceAndSum(loaded(get(1)), k)),
      ...carryPair(pair, scope.locals('v128', VECTORS)),
      module.call('multiply', at(get(0), PAIR_BYTES), at(get(1), PAIR_BYTES), get(2)),
      ...storePair(get(0), pair),
    ];
  });
}
