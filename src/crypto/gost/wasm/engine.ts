/**
 * The arithmetic of the national family: one WebAssembly module, assembled when the family is first
 * used, and its memory.
 */
import { Assembler } from '../../wasm/assembler.ts';
import { compile, createInstance, createPlaces, type Instance } from '../../wasm/instance.ts';
import { STREEBOG_ROUNDS } from '../constants.ts';
import { defineField } from './field.ts';
import {
  defineKuznyechik,
  KUZNYECHIK_TABLE_BYTES,
  kuznyechikTables,
  ROUND_KEY_BYTES,
} from './kuznyechik.ts';
import { definePoints, TEMPORARY_BYTES } from './points.ts';
import { defineScalars } from './scalars.ts';
import { BLOCK_BYTES, defineStreebog, STREEBOG_TABLE_BYTES, streebogTables } from './streebog.ts';

/** Functions take addresses in the memory. Targets may be sources. */
export interface Arithmetic {
  /** Field elements: see field.ts for magnitudes. */
  multiply(target: number, a: number, b: number): void;
  square(target: number, a: number): void;
  timesB(target: number, a: number): void;
  add(target: number, a: number, b: number): void;
  subtract(target: number, a: number, b: number): void;
  carry(target: number, a: number): void;
  canonical(target: number, a: number): void;
  /** Scalars: see scalars.ts. */
  multiplyScalars(target: number, a: number, b: number): void;
  addScalars(target: number, a: number, b: number): void;
  canonicalScalar(target: number, a: number): void;
  /** Points: see points.ts. */
  addPoints(target: number, p: number, q: number): void;
  addAffine(target: number, p: number, q: number): void;
  doublePoint(target: number, p: number): void;
  selectPoint(target: number, table: number, index: number): void;
  /** Streebog. */
  compress(state: number, count: number, block: number): void;
  absorb(sponge: number, data: number, blocks: number): void;
  /** Kuznyechik. */
  encryptBlock(target: number, source: number): void;
  transformBlock(target: number, source: number): void;
  encryptCounter(data: number, blocks: number, counter: number, scratch: number): void;
}

export interface Engine extends Instance<Arithmetic> {
  readonly roundKeys: number;
  /** The address of so many new bytes, a multiple of 16; they are 0. */
  reserve(bytes: number): number;
}

/** Memory for what callers reserve besides large tables. */
const SMALL_BYTES = 256 * 1024;

/** The places that code refers to are at the beginning of the memory. */
const layout = createPlaces();
const places = {
  streebog: layout.take(STREEBOG_TABLE_BYTES),
  rounds: layout.take(STREEBOG_ROUNDS.length * BLOCK_BYTES),
  kuznyechik: layout.take(KUZNYECHIK_TABLE_BYTES),
  roundKeys: layout.take(ROUND_KEY_BYTES),
  temporaries: layout.take(TEMPORARY_BYTES),
  end: layout.take(0),
};

let compiled: WebAssemblyModule | undefined;

function compileArithmetic(): WebAssemblyModule {
  const module = new Assembler();
  defineField(module);
  defineScalars(module);
  definePoints(module, places.temporaries);
  defineStreebog(module, { tables: places.streebog, rounds: places.rounds });
  defineKuznyechik(module, { tables: places.kuznyechik, roundKeys: places.roundKeys });
  return compile(module);
}

/** `largeBytes` is the size of the tables that the caller reserves. */
export function createEngine(largeBytes: number): Engine {
  compiled ??= compileArithmetic();
  const size = places.end + SMALL_BYTES + largeBytes;
  const { run, memory } = createInstance<Arithmetic>(compiled, size);
  const bytes = new Uint8Array(memory);
  bytes.set(new Uint8Array(streebogTables().buffer), places.streebog);
  for (const [i, round] of STREEBOG_ROUNDS.entries()) {
    bytes.set(round, places.rounds + BLOCK_BYTES * i);
  }
  bytes.set(kuznyechikTables(), places.kuznyechik);
  let next = places.end;
  return {
    run,
    memory,
    roundKeys: places.roundKeys,
    reserve(size) {
      const at = next;
      next += Math.ceil(size / 16) * 16;
      if (next > memory.byteLength) throw new Error('the memory of the engine is too small');
      return at;
    },
  };
}
