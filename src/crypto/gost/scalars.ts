/** Arithmetic modulo the order q of the base point, on numbers in the engine's memory. */
import type { Limbs } from './limbs.ts';
import type { Engine } from './wasm/engine.ts';
import { ELEMENT_BYTES } from './wasm/field.ts';
import { Q } from './wasm/scalars.ts';

/** Results are below q and carried. Operands are below 2^256. */
export interface Scalars {
  multiply(target: number, a: number, b: number): void;
  add(target: number, a: number, b: number): void;
  reduce(target: number, a: number): void;
  /** Of a number of 512 bits, given by its halves. */
  reduceWide(target: number, low: number, high: number): void;
  /** The inverse; that of 0 is 0. */
  invert(target: number, a: number): void;
}

const R = 2n ** 261n;

export function createScalars(engine: Engine, limbs: Limbs): Scalars {
  const { run } = engine;
  const number = (value: bigint): number => {
    const at = engine.reserve(ELEMENT_BYTES);
    limbs.putInteger(at, value);
    return at;
  };
  const square = number(R ** 2n % Q);
  const plain = number(R % Q);
  const shifted = number((2n ** 256n * R) % Q);
  const one = number(1n);
  const scratch = engine.reserve(ELEMENT_BYTES);
  const powers = Array.from({ length: 16 }, () => engine.reserve(ELEMENT_BYTES));
  const digits = hexDigits(Q - 2n);

  return {
    multiply(target, a, b) {
      run.multiplyScalars(scratch, a, square);
      run.multiplyScalars(target, scratch, b);
      run.canonicalScalar(target, target);
    },
    add(target, a, b) {
      run.addScalars(target, a, b);
      run.canonicalScalar(target, target);
    },
    reduce(target, a) {
      run.canonicalScalar(target, a);
    },
    reduceWide(target, low, high) {
      run.multiplyScalars(scratch, high, shifted);
      run.multiplyScalars(target, low, plain);
      run.addScalars(target, target, scratch);
      run.canonicalScalar(target, target);
    },
    /** Fermat's little theorem, four bits of the exponent at a time. */
    invert(target, a) {
      run.multiplyScalars(powers[1]!, a, square);
      for (let i = 2; i < 16; i++) {
        run.multiplyScalars(powers[i]!, powers[i - 1]!, powers[1]!);
      }
      run.multiplyScalars(scratch, one, square);
      for (const digit of digits) {
        for (let i = 0; i < 4; i++) run.multiplyScalars(scratch, scratch, scratch);
        if (digit !== 0) run.multiplyScalars(scratch, scratch, powers[digit]!);
      }
      run.multiplyScalars(target, scratch, one);
      run.canonicalScalar(target, target);
    },
  };
}

/** The first is the highest. */
export const hexDigits = (value: bigint): number[] =>
  [...value.toString(16)].map((digit) => Number.parseInt(digit, 16));
