/**
 * Points of the curve in WebAssembly: the complete formulas of Renes, Costello and Batina (2016) for
 * a = −3 in homogeneous coordinates (X : Y : Z), the neutral element being (0 : 1 : 0).
 *
 * The group has prime order, so the formulas have no exception: any two points may be added,
 * equal, opposite or neutral. Neither a wrong signature nor a chosen key reaches a special case.
 *
 * A formula is a list of operations on named elements. While it is translated, the magnitude of
 * each element (field.ts) is tracked, and a carry is inserted only where an operation needs it.
 */
import { type Assembler, type Code, doWhile, get, i32, set, v128 } from '../../wasm/assembler.ts';
import {
  ELEMENT_BYTES,
  MAGNITUDE_MAX,
  MINUEND_MAGNITUDE_MAX,
  PRODUCT_MAGNITUDE_MAX,
  SUBTRAHEND_MAGNITUDE_MAX,
} from './field.ts';

export const AFFINE_BYTES = 2 * ELEMENT_BYTES;
export const POINT_BYTES = 3 * ELEMENT_BYTES;
/** Elements of the formulas' own: t0 to t4, u, v, w. */
export const TEMPORARY_BYTES = 8 * ELEMENT_BYTES;

// Algorithm 4 of the paper. X3, Y3 and Z3 are written when the operands are no longer needed, so the
// result may replace one of them; u, v and w stand for them before.
const ADD = `
  t0 = X1 * X2; t1 = Y1 * Y2; t2 = Z1 * Z2; t3 = X1 + Y1; t4 = X2 + Y2; t3 = t3 * t4;
  t4 = t0 + t1; t3 = t3 - t4; t4 = Y1 + Z1; u = Y2 + Z2; t4 = t4 * u; u = t1 + t2;
  t4 = t4 - u; u = X1 + Z1; v = X2 + Z2; u = u * v; v = t0 + t2; v = u - v;
  w = b t2; u = v - w; w = u + u; u = u + w; w = t1 - u; u = t1 + u; v = b v;
  t1 = t2 + t2; t2 = t1 + t2; v = v - t2; v = v - t0; t1 = v + v; v = t1 + v;
  t1 = t0 + t0; t0 = t1 + t0; t0 = t0 - t2; t1 = t4 * v; t2 = t0 * v; v = u * w;
  Y3 = v + t2; u = t3 * u; X3 = u - t1; w = t4 * w; t1 = t3 * t0; Z3 = w + t1`;

// Algorithm 5: the second operand has Z = 1, so it is not the neutral element.
const ADD_AFFINE = `
  t0 = X1 * X2; t1 = Y1 * Y2; t3 = X2 + Y2; t4 = X1 + Y1; t3 = t3 * t4; t4 = t0 + t1;
  t3 = t3 - t4; t4 = Y2 * Z1; t4 = t4 + Y1; v = X2 * Z1; v = v + X1; w = b Z1;
  u = v - w; w = u + u; u = u + w; w = t1 - u; u = t1 + u; v = b v; t1 = Z1 + Z1;
  t2 = t1 + Z1; v = v - t2; v = v - t0; t1 = v + v; v = t1 + v; t1 = t0 + t0;
  t0 = t1 + t0; t0 = t0 - t2; t1 = t4 * v; t2 = t0 * v; v = u * w; Y3 = v + t2;
  u = t3 * u; X3 = u - t1; w = t4 * w; t1 = t3 * t0; Z3 = w + t1`;

// Algorithm 6.
const DOUBLE = `
  t0 = X1 * X1; t1 = Y1 * Y1; t2 = Z1 * Z1; t3 = X1 * Y1; t3 = t3 + t3; w = X1 * Z1;
  w = w + w; v = b t2; v = v - w; u = v + v; v = u + v; u = t1 - v; v = t1 + v;
  v = u * v; u = u * t3; t3 = t2 + t2; t2 = t2 + t3; w = b w; w = w - t2; w = w - t0;
  t3 = w + w; w = w + t3; t3 = t0 + t0; t0 = t3 + t0; t0 = t0 - t2; t0 = t0 * w;
  v = v + t0; t0 = Y1 * Z1; t0 = t0 + t0; w = t0 * w; X3 = u - w; w = t0 * t1;
  w = w + w; Z3 = w + w; Y3 = v + 0`;

export function definePoints(module: Assembler, temporaries: number): void {
  const own = Object.fromEntries(
    ['t0', 't1', 't2', 't3', 't4', 'u', 'v', 'w'].map((name, i) => [
      name,
      i32.const(temporaries + i * ELEMENT_BYTES),
    ]),
  );
  const coordinates = (number: number, parameter: number) =>
    Object.fromEntries(
      ['X', 'Y', 'Z'].map((letter, i) => [
        `${letter}${number}`,
        i32.add(get(parameter), i32.const(i * ELEMENT_BYTES)),
      ]),
    );
  const operands = { ...own, ...coordinates(3, 0), ...coordinates(1, 1) };

  // (target, p, q): p + q.
  module.define('addPoints', 3, () =>
    translate(module, ADD, { ...operands, ...coordinates(2, 2) }),
  );
  // (target, p, q): p + q, where q has the coordinates X and Y only.
  module.define('addAffine', 3, () =>
    translate(module, ADD_AFFINE, { ...operands, ...coordinates(2, 2) }),
  );
  // (target, p): p + p.
  module.define('doublePoint', 2, () => translate(module, DOUBLE, operands));
  defineSelection(module);
}

/** Operands and results of the formulas have magnitude 1. */
function translate(module: Assembler, formula: string, places: Record<string, Code>): Code {
  const magnitudes = new Map<string, number>();
  const code: Code[] = [];
  const at = (name: string): Code => {
    const place = places[name];
    if (place === undefined) throw new Error(`unknown element ${name}`);
    return place;
  };
  const magnitudeOf = (name: string) => magnitudes.get(name) ?? 1;
  const carry = (name: string, target = name) => {
    code.push(module.call('carry', at(target), at(name)));
    magnitudes.set(target, 1);
  };
  const limit = (name: string, max: number) => {
    if (magnitudeOf(name) > max) carry(name);
  };

  for (const operation of formula.split(';')) {
    const [target = '', , a = '', sign = '', b = ''] = operation.trim().split(' ');
    if (a === 'b') {
      code.push(module.call('timesB', at(target), at(sign)));
      magnitudes.set(target, 1);
    } else if (sign === '*') {
      if (magnitudeOf(a) * magnitudeOf(b) > PRODUCT_MAGNITUDE_MAX)
        carry(magnitudeOf(a) > magnitudeOf(b) ? a : b);
      if (magnitudeOf(a) * magnitudeOf(b) > PRODUCT_MAGNITUDE_MAX)
        carry(magnitudeOf(a) > 1 ? a : b);
      const args = a === b ? [at(a)] : [at(a), at(b)];
      code.push(module.call(a === b ? 'square' : 'multiply', at(target), ...args));
      magnitudes.set(target, 1);
    } else if (sign === '-') {
      limit(a, MINUEND_MAGNITUDE_MAX);
      limit(b, SUBTRAHEND_MAGNITUDE_MAX);
      code.push(module.call('subtract', at(target), at(a), at(b)));
      magnitudes.set(target, 1);
    } else if (b === '0') {
      carry(a, target);
    } else {
      while (magnitudeOf(a) + magnitudeOf(b) > MAGNITUDE_MAX) carry(magnitudeOf(a) > 1 ? a : b);
      code.push(module.call('add', at(target), at(a), at(b)));
      magnitudes.set(target, magnitudeOf(a) + magnitudeOf(b));
    }
    if (target.endsWith('3') && target !== 't3') limit(target, 1);
  }
  return code;
}

/** (target, table, index): one of sixteen points, read so that the index does not show in the time. */
function defineSelection(module: Assembler): void {
  const VECTORS = POINT_BYTES / 16;
  module.define('selectPoint', 3, (scope) => {
    const parts = scope.locals('v128', VECTORS);
    const mask = scope.local('v128');
    const number = scope.local('i32');
    const body = [
      ...set(mask, v128.equal32(v128.splat32(get(number)), v128.splat32(get(2)))),
      ...parts.flatMap((part, i) =>
        set(part, v128.or(get(part), v128.and(get(mask), v128.load(get(1), 16 * i)))),
      ),
      ...set(1, i32.add(get(1), i32.const(POINT_BYTES))),
      ...set(number, i32.add(get(number), i32.const(1))),
    ];
    return [
      ...parts.flatMap((part) => set(part, v128.const32([0, 0, 0, 0]))),
      ...set(number, i32.const(0)),
      ...doWhile(body, i32.lessUnsigned(get(number), i32.const(16))),
      ...parts.flatMap((part, i) => v128.store(get(0), 16 * i, get(part))),
    ];
  });
}
