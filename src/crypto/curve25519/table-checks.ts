/**
 * Checks of Ed25519 signatures by tables of multiples, many at a time, since they share one inversion.
 * R′ = S·B − h·A is computed, and its bytes are compared with R, as libsodium does.
 */
import { equal } from '../../base/bytes.ts';
import { decodeHex } from '../../base/hex.ts';
import { sodium } from '../sodium.ts';
import {
  BASE_CHUNK_BYTES,
  BASE_WIDTH,
  CHUNK_BITS,
  CHUNKS,
  KEY_CHUNK_BYTES,
  KEY_WIDTH,
  type KeyTable,
  KeyTables,
  tablesBytes,
} from './key-tables.ts';
import { KEY_SIZE } from './keys.ts';
import { recodeScalar, SCALAR_DIGITS } from './scalar-digits.ts';
import { ELEMENTS_BYTES, Elements } from './wasm/elements.ts';
import { createPairEngine, type PairEngine } from './wasm/engine.ts';
import { bitOf, bitsOf, LIMBS, PAIR_BYTES } from './wasm/pair-field.ts';
import { POINT_BYTES, TERM_BYTES } from './wasm/points.ts';

/** The longest message that it checks, in bytes. With longer ones most of the time goes into the hash. */
export const MESSAGE_MAX = 8192;
/** So many checks share an inversion at most. */
export const CHECKS_MAX = 64;
const CHECK_BYTES = POINT_BYTES + PAIR_BYTES;

/** The order of the base point in words, the lowest first. */
const ORDER = [0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de, 0, 0, 0, 0x10000000];

export class TableChecks {
  readonly tables: KeyTables;
  private readonly engine: PairEngine;
  private readonly elements: Elements;
  private readonly memory: Uint8Array;
  private readonly neutral: number;
  /** Point n is S·B − h·A of the n-th check. */
  private readonly points: number;
  /** The products of T and Z of the points up to the n-th. */
  private readonly products: number;
  private readonly inverse: number;
  private readonly inverseOfOne: number;
  /** R of each check. */
  private readonly expected = new Uint8Array(CHECKS_MAX * KEY_SIZE);
  private count = 0;
  private readonly ofBase = new Int8Array(SCALAR_DIGITS);
  private readonly ofKey = new Int8Array(SCALAR_DIGITS);
  private readonly scalar = new Uint8Array(KEY_SIZE);
  private readonly scalarWords = new Uint32Array(this.scalar.buffer);
  private readonly hashed = new Uint8Array(2 * KEY_SIZE + MESSAGE_MAX);
  private readonly digest = new Uint8Array(2 * KEY_SIZE);
  private readonly limbs = new Int32Array(LIMBS);

  /** `keysMax` tables of 10 KiB each; memory that no table has used costs nothing. */
  constructor(keysMax: number) {
    const own = CHECKS_MAX * CHECK_BYTES + POINT_BYTES + 2 * PAIR_BYTES;
    this.engine = createPairEngine(tablesBytes(keysMax) + ELEMENTS_BYTES + own);
    const { reserve, memory } = this.engine;
    this.elements = new Elements(this.engine);
    this.tables = new KeyTables(this.engine, this.elements, keysMax);
    this.memory = new Uint8Array(memory);
    this.neutral = reserve(POINT_BYTES);
    this.elements.put(this.neutral, 1, 1n);
    this.elements.put(this.neutral + PAIR_BYTES, 1, 1n);
    this.points = reserve(CHECKS_MAX * POINT_BYTES);
    this.products = reserve(CHECKS_MAX * PAIR_BYTES);
    this.inverse = reserve(PAIR_BYTES);
    this.inverseOfOne = reserve(PAIR_BYTES);
  }

  get isFull(): boolean {
    return this.count === CHECKS_MAX;
  }

  /**
   * Adds a check, unless it has failed already: then false. `key` is in the Edwards form, with the
   * sign, and `signature` is R ‖ S without it. At most CHECKS_MAX wait for their verdicts. Throws
   * RangeError for a message above MESSAGE_MAX.
   */
  add(table: KeyTable, key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    const r = signature.subarray(0, KEY_SIZE);
    this.scalar.set(signature.subarray(KEY_SIZE));
    if (!isBelowOrder(this.scalarWords) || isOfSmallOrder(r)) return false;
    recodeScalar(this.ofBase, this.scalarWords, BASE_WIDTH);
    this.challenge(r, key, message);
    recodeScalar(this.ofKey, this.scalarWords, KEY_WIDTH);
    const isOdd = key[KEY_SIZE - 1]! >> 7 === 1;
    this.multiplyAndAdd(this.points + this.count * POINT_BYTES, table.address, isOdd);
    this.expected.set(r, this.count * KEY_SIZE);
    this.count++;
    return true;
  }

  /** Drops the checks that wait for their verdicts. */
  forget(): void {
    this.count = 0;
  }

  /** Of the checks added since the last call, in their order. */
  verdicts(): boolean[] {
    const { count, memory, points, products, inverse, inverseOfOne } = this;
    const { run } = this.engine;
    this.count = 0;
    if (count === 0) return [];
    const tz = (n: number): number => points + n * POINT_BYTES + PAIR_BYTES;
    const product = (n: number): number => products + n * PAIR_BYTES;
    memory.copyWithin(product(0), tz(0), tz(0) + PAIR_BYTES);
    for (let n = 1; n < count; n++) run.multiply(product(n), product(n - 1), tz(n));
    this.elements.invert(inverse, product(count - 1));
    const out = new Array<boolean>(count);
    for (let n = count - 1; n >= 0; n--) {
      if (n > 0) run.multiply(inverseOfOne, inverse, product(n - 1));
      run.secondTwice(inverseOfOne, n > 0 ? inverseOfOne : inverse);
      run.multiply(inverse, inverse, tz(n));
      run.multiply(points + n * POINT_BYTES, points + n * POINT_BYTES, inverseOfOne);
      out[n] = this.isExpected(n);
    }
    return out;
  }

  /** h = SHA-512(R ‖ A ‖ message) modulo the order, to `scalar`. */
  private challenge(r: Uint8Array, key: Uint8Array, message: Uint8Array): void {
    const { hashed, digest } = this;
    hashed.set(r);
    hashed.set(key, KEY_SIZE);
    hashed.set(message, 2 * KEY_SIZE);
    sodium.crypto_hash_sha512(digest, hashed.subarray(0, 2 * KEY_SIZE + message.length));
    sodium.crypto_core_ed25519_scalar_reduce(this.scalar, digest);
  }

  /** Of the key's two points, the table has the one whose x is even. */
  private multiplyAndAdd(target: number, table: number, isOdd: boolean): void {
    const { ofBase, ofKey, memory, neutral } = this;
    const { run } = this.engine;
    const baseTable = this.tables.base();
    memory.copyWithin(target, neutral, neutral + POINT_BYTES);
    const add = (terms: number, digit: number): void => {
      if (digit > 0) run.addTerm(target, target, terms + (digit >> 1) * TERM_BYTES);
      else run.subtractTerm(target, target, terms + (-digit >> 1) * TERM_BYTES);
    };
    for (let place = CHUNK_BITS - 1; place >= 0; place--) {
      if (place < CHUNK_BITS - 1) run.doublePoint(target, target);
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        const forBase = ofBase[CHUNK_BITS * chunk + place]!;
        const forKey = ofKey[CHUNK_BITS * chunk + place]!;
        if (forBase !== 0) add(baseTable + chunk * BASE_CHUNK_BYTES, forBase);
        if (forKey !== 0) add(table + chunk * KEY_CHUNK_BYTES, isOdd ? forKey : -forKey);
      }
    }
  }

  /** Whether point n, whose first pair is (x, y) by now, is R of check n. */
  private isExpected(n: number): boolean {
    const { elements, limbs, expected } = this;
    const point = this.points + n * POINT_BYTES;
    const r = expected.subarray(n * KEY_SIZE, (n + 1) * KEY_SIZE);
    elements.canonical(limbs, point, 0);
    if ((limbs[0]! & 1) !== r[KEY_SIZE - 1]! >> 7) return false;
    elements.canonical(limbs, point, 1);
    return isLower255(limbs, r);
  }
}

/** Whether the number is that of the lower 255 bits. */
function isLower255(limbs: Int32Array, bytes: Uint8Array): boolean {
  for (let i = 0; i < LIMBS; i++) {
    const at = bitOf(i) >> 3;
    const word =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    if (((word >>> (bitOf(i) & 7)) & (2 ** bitsOf(i) - 1)) !== limbs[i]) return false;
  }
  return true;
}

function isBelowOrder(words: Uint32Array): boolean {
  for (let i = ORDER.length - 1; i >= 0; i--) {
    if (words[i] !== ORDER[i]) return words[i]! < ORDER[i]!;
  }
  return false;
}

/** The y of the points of small order, canonical: no other spelling equals the bytes of R′. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(decodeHex);
/** The first byte distinguishes nearly every point from all of them. */
const firstBytes = new Set(SMALL_ORDER.map((y) => y[0]));

function isOfSmallOrder(point: Uint8Array): boolean {
  if (!firstBytes.has(point[0])) return false;
  const y = point.slice();
  y[KEY_SIZE - 1]! &= 0x7f;
  return SMALL_ORDER.some((small) => equal(small, y));
}
