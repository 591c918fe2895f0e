/** The arithmetic of signature checks with tables: one WebAssembly module and its memory. */
import { assert } from '../../../base/assert.ts';
import { Assembler } from '../../wasm/assembler.ts';
import { compile, createInstance, createPlaces, type Instance } from '../../wasm/instance.ts';
import { definePairField } from './pair-field.ts';
import { definePoints, TEMPORARY_BYTES } from './points.ts';

/** Functions take addresses in the memory: see pair-field.ts and points.ts. */
export interface PairArithmetic {
  multiply(target: number, a: number, b: number): void;
  square(target: number, a: number): void;
  squareTimes(target: number, a: number, times: number): void;
  secondTwice(target: number, a: number): void;
  addTerm(target: number, point: number, term: number): void;
  subtractTerm(target: number, point: number, term: number): void;
  doublePoint(target: number, point: number): void;
  termOf(target: number, point: number, constants: number): void;
}

export interface PairEngine extends Instance<PairArithmetic> {
  /** The address of so many new bytes, a multiple of 16; they are 0. */
  reserve(bytes: number): number;
}

let compiled: WebAssemblyModule | undefined;

function compileArithmetic(temporaries: number): WebAssemblyModule {
  const module = new Assembler();
  definePairField(module);
  definePoints(module, temporaries);
  return compile(module);
}

/** `bytes` is what the caller reserves. */
export function createPairEngine(bytes: number): PairEngine {
  const places = createPlaces();
  compiled ??= compileArithmetic(places.take(0));
  places.take(TEMPORARY_BYTES);
  const { run, memory } = createInstance<PairArithmetic>(compiled, TEMPORARY_BYTES + bytes);
  return {
    run,
    memory,
    reserve(size) {
      const at = places.take(Math.ceil(size / 16) * 16);
      assert(at + size <= memory.byteLength, 'the memory of the engine is large enough');
      return at;
    },
  };
}
