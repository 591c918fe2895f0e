/**
 * Tables of multiples for the check of signatures: of a point P, the odd multiples of P, 2^64 P,
 * 2^128 P and 2^192 P, so that a product takes 64 doublings instead of 256.
 *
 * The tables of the latest senders are kept, 3 KiB each. A key that is used once costs as much with
 * its table as without, because the table is made with the doublings that it saves.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Group } from './group.ts';
import { CHUNKS } from './recoding.ts';
import type { Engine } from './wasm/engine.ts';
import { ELEMENT_BYTES } from './wasm/field.ts';
import { AFFINE_BYTES, POINT_BYTES } from './wasm/points.ts';

const CHUNK_BITS = 64;

/** The width of the digits that a table with so many odd multiples of each chunk serves. */
export const KEY_WIDTH = 5;
export const BASE_WIDTH = 8;
const KEY_MULTIPLES = 2 ** (KEY_WIDTH - 2);
const BASE_MULTIPLES = 2 ** (BASE_WIDTH - 2);
const tableBytes = (multiples: number) => CHUNKS * multiples * AFFINE_BYTES;
export const KEY_TABLE_BYTES = tableBytes(KEY_MULTIPLES);
export const BASE_TABLE_BYTES = tableBytes(BASE_MULTIPLES);

export interface Multiples {
  /** The table of the base point. */
  base(): number;
  /** The table of a public key, or undefined if it is no point of the curve. */
  ofKey(publicKey: Uint8Array): number | undefined;
}

export function createMultiples(engine: Engine, group: Group, keysMax: number): Multiples {
  const { run } = engine;
  const memory = new Uint8Array(engine.memory);
  const pointsMax = CHUNKS * BASE_MULTIPLES;
  const point = engine.reserve(POINT_BYTES);
  const twice = engine.reserve(POINT_BYTES);
  const points = engine.reserve(pointsMax * POINT_BYTES);
  const normalizeAll = createNormalization(engine, group, points, pointsMax);
  const baseTable = engine.reserve(BASE_TABLE_BYTES);
  const keyTables = engine.reserve(keysMax * KEY_TABLE_BYTES);
  /** Public key → its table, the one used longest ago first. */
  const known = new Map<string, number>();
  let hasBase = false;

  function fill(table: number, start: number, multiples: number): void {
    memory.copyWithin(point, start, start + POINT_BYTES);
    let next = points;
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      memory.copyWithin(next, point, point + POINT_BYTES);
      run.doublePoint(twice, point);
      for (let i = 1; i < multiples; i++) {
        run.addPoints(next + POINT_BYTES, next, twice);
        next += POINT_BYTES;
      }
      next += POINT_BYTES;
      for (let i = 0; chunk < CHUNKS - 1 && i < CHUNK_BITS; i++) run.doublePoint(point, point);
    }
    normalizeAll(table, CHUNKS * multiples);
  }

  /** A place that is free, or that of the table used longest ago. */
  function place(): number {
    if (known.size < keysMax) return keyTables + known.size * KEY_TABLE_BYTES;
    const [oldest] = known;
    known.delete(oldest![0]);
    return oldest![1];
  }

  return {
    base() {
      if (!hasBase) fill(baseTable, group.base, BASE_MULTIPLES);
      hasBase = true;
      return baseTable;
    },
    ofKey(publicKey) {
      const key = latin1(publicKey);
      let table = known.get(key);
      if (table !== undefined) known.delete(key);
      else {
        if (!group.read(point, publicKey)) return undefined;
        table = place();
        fill(table, point, KEY_MULTIPLES);
      }
      known.set(key, table);
      return table;
    },
  };
}

/** Montgomery's trick: one inversion for all points. None of them is neutral. */
function createNormalization(
  engine: Engine,
  group: Group,
  points: number,
  pointsMax: number,
): (table: number, count: number) => void {
  const { run } = engine;
  const memory = new Uint8Array(engine.memory);
  const products = engine.reserve(pointsMax * ELEMENT_BYTES);
  const inverse = engine.reserve(ELEMENT_BYTES);
  const inverseOfZ = engine.reserve(ELEMENT_BYTES);
  const z = (i: number) => points + i * POINT_BYTES + 2 * ELEMENT_BYTES;
  const product = (i: number) => products + i * ELEMENT_BYTES;
  return (table, count) => {
    memory.copyWithin(product(0), z(0), z(0) + ELEMENT_BYTES);
    for (let i = 1; i < count; i++) run.multiply(product(i), product(i - 1), z(i));
    group.invert(inverse, product(count - 1));
    for (let i = count - 1; i >= 0; i--) {
      const from = points + i * POINT_BYTES;
      const to = table + i * AFFINE_BYTES;
      if (i === 0) memory.copyWithin(inverseOfZ, inverse, inverse + ELEMENT_BYTES);
      else run.multiply(inverseOfZ, inverse, product(i - 1));
      run.multiply(inverse, inverse, z(i));
      run.multiply(to, from, inverseOfZ);
      run.multiply(to + ELEMENT_BYTES, from + ELEMENT_BYTES, inverseOfZ);
    }
  };
}
