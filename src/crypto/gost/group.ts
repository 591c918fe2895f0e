/**
 * The group of points of the curve id-GostR3410-2001-CryptoPro-A (RFC 4357), y² = x³ − 3x + 166 over
 * the field of p = 2^256 − 617 elements, in the engine's memory.
 */
import type { Limbs } from './limbs.ts';
import { hexDigits } from './scalars.ts';
import type { Engine } from './wasm/engine.ts';
import { ELEMENT_BYTES, P } from './wasm/field.ts';
import { POINT_BYTES } from './wasm/points.ts';

const BASE_X = 1n;
const BASE_Y = 0x8d91e471_e0989cda_27df505a_453f2b76_35294f2d_df23e3b1_22acc99c_9e9f1e14n;
const SELECTED = 16;

export interface Group {
  /** The base point, as a point with Z. */
  readonly base: number;
  /** Reads a point of 64 bytes; false if it is none of the curve, or has a coordinate above p. */
  read(target: number, bytes: Uint8Array): boolean;
  /** 64 bytes. The point is not neutral. */
  write(point: number): Uint8Array;
  setNeutral(target: number): void;
  isNeutral(point: number): boolean;
  /** `target` gets `scalar` times the point; the scalar is secret and below q. */
  multiplySecretly(target: number, point: number, scalar: number): void;
  /** Computes x and y of a point that is not neutral. */
  normalize(x: number, y: number, point: number): void;
  /** `target` gets 1/a; that of 0 is 0. */
  invert(target: number, a: number): void;
  /** `target` gets −a. */
  negate(target: number, a: number): void;
}

export function createGroup(engine: Engine, limbs: Limbs): Group {
  const { run } = engine;
  const memory = new Uint8Array(engine.memory);
  const elements = (count: number) => reserved(engine, count);
  const invert = createInversion(engine, limbs);
  const multiplySecretly = createSecretProduct(engine, limbs);
  const [x, y, left, right, three, zero, scratch] = elements(7) as Seven;
  const base = reservedBase(engine, limbs);
  const b = engine.reserve(ELEMENT_BYTES);
  limbs.putInteger(three, 3n);
  limbs.putInteger(b, 166n);

  /** y² = (x² − 3) x + 166 */
  function isOnCurve(px: number, py: number): boolean {
    run.square(right, px);
    run.subtract(right, right, three);
    run.multiply(right, right, px);
    run.add(right, right, b);
    run.square(left, py);
    run.subtract(left, left, right);
    run.canonical(left, left);
    return limbs.isZero(left);
  }

  /** Puts 32 bytes; false if they are not below p. */
  function readElement(target: number, bytes: Uint8Array): boolean {
    limbs.putLittleEndian(target, bytes);
    run.canonical(scratch, target);
    for (let i = 0; i < ELEMENT_BYTES; i++) {
      if (memory[target + i] !== memory[scratch + i]) return false;
    }
    return true;
  }

  function normalize(toX: number, toY: number, point: number): void {
    invert(scratch, point + 2 * ELEMENT_BYTES);
    run.multiply(toX, point, scratch);
    run.multiply(toY, point + ELEMENT_BYTES, scratch);
    run.canonical(toX, toX);
    run.canonical(toY, toY);
  }

  return {
    base,
    read(target, bytes) {
      const [px, py] = [target, target + ELEMENT_BYTES];
      if (!readElement(px, bytes.subarray(0, 32)) || !readElement(py, bytes.subarray(32))) {
        return false;
      }
      limbs.putInteger(target + 2 * ELEMENT_BYTES, 1n);
      return isOnCurve(px, py);
    },
    write(point) {
      normalize(x, y, point);
      const bytes = new Uint8Array(64);
      bytes.set(limbs.takeLittleEndian(x));
      bytes.set(limbs.takeLittleEndian(y), 32);
      return bytes;
    },
    setNeutral: (target) => setNeutral(memory, target),
    isNeutral(point) {
      run.canonical(scratch, point + 2 * ELEMENT_BYTES);
      return limbs.isZero(scratch);
    },
    multiplySecretly,
    normalize,
    invert,
    negate: (target, a) => run.subtract(target, zero, a),
  };
}

type Seven = [number, number, number, number, number, number, number];

const reserved = (engine: Engine, count: number): number[] =>
  Array.from({ length: count }, () => engine.reserve(ELEMENT_BYTES));

function reservedBase(engine: Engine, limbs: Limbs): number {
  const base = engine.reserve(POINT_BYTES);
  limbs.putInteger(base, BASE_X);
  limbs.putInteger(base + ELEMENT_BYTES, BASE_Y);
  limbs.putInteger(base + 2 * ELEMENT_BYTES, 1n);
  return base;
}

function setNeutral(memory: Uint8Array, target: number): void {
  memory.fill(0, target, target + POINT_BYTES);
  memory[target + ELEMENT_BYTES] = 1;
}

/** a to the power of p − 2, four bits of it at a time. */
function createInversion(engine: Engine, limbs: Limbs): Group['invert'] {
  const { run } = engine;
  const memory = new Uint8Array(engine.memory);
  const powers = reserved(engine, 16);
  const inverse = engine.reserve(ELEMENT_BYTES);
  const exponent = hexDigits(P - 2n);
  const copy = (target: number, source: number) =>
    memory.copyWithin(target, source, source + ELEMENT_BYTES);
  return (target, a) => {
    copy(powers[1]!, a);
    for (let i = 2; i < 16; i++) run.multiply(powers[i]!, powers[i - 1]!, powers[1]!);
    limbs.putInteger(inverse, 1n);
    for (const digit of exponent) {
      for (let i = 0; i < 4; i++) run.square(inverse, inverse);
      if (digit !== 0) run.multiply(inverse, inverse, powers[digit]!);
    }
    copy(target, inverse);
  };
}

/** Every entry of the table is read, whatever the digit, so that no address tells the scalar. */
function createSecretProduct(engine: Engine, limbs: Limbs): Group['multiplySecretly'] {
  const { run } = engine;
  const memory = new Uint8Array(engine.memory);
  const table = engine.reserve(SELECTED * POINT_BYTES);
  const selected = engine.reserve(POINT_BYTES);
  return (target, point, scalar) => {
    setNeutral(memory, table);
    for (let i = 1; i < SELECTED; i++) {
      const entry = table + i * POINT_BYTES;
      run.addPoints(entry, entry - POINT_BYTES, point);
    }
    const words = limbs.words(scalar).slice();
    setNeutral(memory, target);
    for (let digit = 63; digit >= 0; digit--) {
      for (let i = 0; i < 4; i++) run.doublePoint(target, target);
      const index = (words[digit >> 3]! >>> (4 * (digit & 7))) & 15;
      run.selectPoint(selected, table, index);
      run.addPoints(target, target, selected);
    }
    words.fill(0);
  };
}
