/**
 * Tables of multiples for the check of signatures: of a point P, the odd multiples of 2^32n P for n
 * from 0 to 7, so that a product takes 31 doublings instead of 252. A table costs about as much as
 * one and a half checks by libsodium.
 */
import { latin1 } from '../../base/bytes.ts';
import { P, toInteger } from './field.ts';
import type { Elements } from './wasm/elements.ts';
import type { PairEngine } from './wasm/engine.ts';
import { PAIR_BYTES } from './wasm/pair-field.ts';
import { POINT_BYTES, TERM_BYTES } from './wasm/points.ts';

export const CHUNKS = 8;
export const CHUNK_BITS = 32;
/** The widths of the digits that the tables serve. */
export const KEY_WIDTH = 5;
export const BASE_WIDTH = 8;
const KEY_MULTIPLES = 2 ** (KEY_WIDTH - 2);
const BASE_MULTIPLES = 2 ** (BASE_WIDTH - 2);
export const KEY_CHUNK_BYTES = KEY_MULTIPLES * TERM_BYTES;
export const BASE_CHUNK_BYTES = BASE_MULTIPLES * TERM_BYTES;
const KEY_TABLE_BYTES = CHUNKS * KEY_CHUNK_BYTES;
const BASE_TABLE_BYTES = CHUNKS * BASE_CHUNK_BYTES;
/** What the tables reserve. */
export const tablesBytes = (keysMax: number): number =>
  BASE_TABLE_BYTES + keysMax * KEY_TABLE_BYTES + 3 * POINT_BYTES + TERM_BYTES + 2 * PAIR_BYTES;

const modulo = (value: bigint): bigint => ((value % P) + P) % P;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/** d = −121665 / 121666 (RFC 8032, 5.1). */
const D = modulo(-121665n * power(121666n, P - 2n));
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n);
const BASE_Y = modulo(4n * power(5n, P - 2n));

/**
 * A table stays while its key is used again within so many checks for each table. So keys that take
 * turns, more than there are tables, do not drive one another out, and a table that is made takes the
 * place of one at most once in so many checks.
 */
const CHECKS_PER_TABLE = 8;

export interface KeyTable {
  /** That of the point whose x is even. */
  readonly address: number;
  /** The y of the point, 32 bytes, little-endian. */
  readonly y: Uint8Array;
  /** The number of the check that used it last. */
  usedAt: number;
}

export class KeyTables {
  private readonly engine: PairEngine;
  private readonly elements: Elements;
  private readonly keysMax: number;
  private readonly memory: Uint8Array;
  private readonly point: number;
  private readonly multiple: number;
  private readonly twice: number;
  private readonly termOfTwice: number;
  /** The pair (2d, 2). */
  private readonly constants: number;
  private readonly root: number;
  private readonly baseTable: number;
  private readonly keyTables: number;
  /** Public key → its table, the one used longest ago first. */
  private readonly known = new Map<string, KeyTable>();
  private checks = 0;
  private hasBase = false;

  constructor(engine: PairEngine, elements: Elements, keysMax: number) {
    this.engine = engine;
    this.elements = elements;
    this.keysMax = keysMax;
    this.memory = new Uint8Array(engine.memory);
    this.point = engine.reserve(POINT_BYTES);
    this.multiple = engine.reserve(POINT_BYTES);
    this.twice = engine.reserve(POINT_BYTES);
    this.termOfTwice = engine.reserve(TERM_BYTES);
    this.constants = engine.reserve(PAIR_BYTES);
    this.root = engine.reserve(PAIR_BYTES);
    this.baseTable = engine.reserve(BASE_TABLE_BYTES);
    this.keyTables = engine.reserve(keysMax * KEY_TABLE_BYTES);
    elements.put(this.constants, 0, modulo(2n * D));
    elements.put(this.constants, 1, 2n);
  }

  /** The table of the base point, whose x is even. */
  base(): number {
    if (!this.hasBase) {
      this.putPoint(BASE_Y);
      this.fill(this.baseTable, BASE_MULTIPLES);
      this.hasBase = true;
    }
    return this.baseTable;
  }

  /** Called for each check once. */
  find(publicKey: Uint8Array): KeyTable | undefined {
    this.checks += 1;
    const key = latin1(publicKey);
    const table = this.known.get(key);
    if (table === undefined) return undefined;
    table.usedAt = this.checks;
    this.known.delete(key);
    this.known.set(key, table);
    return table;
  }

  /**
   * Makes one for a key, from the y of its point. Nothing happens if the key has one, no point has y,
   * or all places are in use.
   */
  add(publicKey: Uint8Array, y: Uint8Array): void {
    const key = latin1(publicKey);
    if (this.known.has(key) || !this.hasPlace() || !this.putPoint(toInteger(y))) return;
    // No key has the place while it is filled.
    const address = this.place();
    this.fill(address, KEY_MULTIPLES);
    this.known.set(key, { address, y: y.slice(), usedAt: this.checks });
  }

  private hasPlace(): boolean {
    const { known, keysMax, checks } = this;
    if (known.size < keysMax) return true;
    const [oldest] = known.values();
    return oldest !== undefined && checks - oldest.usedAt >= CHECKS_PER_TABLE * keysMax;
  }

  /** A place that is free, or that of the table used longest ago. */
  private place(): number {
    const { known, keysMax } = this;
    if (known.size < keysMax) return this.keyTables + known.size * KEY_TABLE_BYTES;
    const [oldest] = known;
    known.delete(oldest![0]);
    return oldest![1].address;
  }

  /** From the point at `point`, which changes. */
  private fill(table: number, multiples: number): void {
    const { memory, point, multiple, twice, termOfTwice, constants } = this;
    const { run } = this.engine;
    let term = table;
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      memory.copyWithin(multiple, point, point + POINT_BYTES);
      run.doublePoint(twice, point);
      run.termOf(termOfTwice, twice, constants);
      for (let i = 0; i < multiples; i++, term += TERM_BYTES) {
        if (i > 0) run.addTerm(multiple, multiple, termOfTwice);
        run.termOf(term, multiple, constants);
      }
      for (let i = 0; i < CHUNK_BITS; i++) run.doublePoint(point, point);
    }
  }

  /** Puts the point with this y and an even x at `point`; false if there is none. */
  private putPoint(y: bigint): boolean {
    const { elements, point } = this;
    const x = this.evenRoot(modulo(y * y - 1n), modulo(D * y * y + 1n));
    if (x === undefined) return false;
    elements.put(point, 0, x);
    elements.put(point, 1, y);
    elements.put(point + PAIR_BYTES, 0, (x * y) % P);
    elements.put(point + PAIR_BYTES, 1, 1n);
    return true;
  }

  /** The even root of u / v (RFC 8032, 5.1.3). */
  private evenRoot(u: bigint, v: bigint): bigint | undefined {
    const { elements, root } = this;
    const cube = (((v * v) % P) * v) % P;
    elements.put(root, 0, (((((u * cube) % P) * cube) % P) * v) % P);
    elements.rootPower(root, root);
    const candidate = (((u * cube) % P) * elements.take(root, 0)) % P;
    const square = (((candidate * candidate) % P) * v) % P;
    if (square !== u && square !== modulo(-u)) return undefined;
    const x = square === u ? candidate : (candidate * ROOT_OF_MINUS_ONE) % P;
    return x % 2n === 0n ? x : P - x;
  }
}
