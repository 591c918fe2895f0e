/**
 * Signatures of GOST R 34.10-2012 with 256 bits (RFC 7091, accounts.md#signatures-of-the-national-family).
 *
 * A signature is s(32) ‖ r(32), each big-endian; the hash of the message is read little-endian.
 */
import { concat } from '../../base/bytes.ts';
import type { Random } from '../../base/ports/random.ts';
import type { Group } from './group.ts';
import { type Limbs, NUMBER_BYTES } from './limbs.ts';
import { BASE_WIDTH, KEY_WIDTH, type Multiples } from './multiples.ts';
import { CHUNK_DIGITS, CHUNKS, recode } from './recoding.ts';
import type { Scalars } from './scalars.ts';
import type { Streebog } from './streebog.ts';
import type { Engine } from './wasm/engine.ts';
import { ELEMENT_BYTES, P } from './wasm/field.ts';
import { AFFINE_BYTES, POINT_BYTES } from './wasm/points.ts';
import { Q } from './wasm/scalars.ts';

export const SIGNATURE_SIZE = 64;
const NOISE_SIZE = 64;
/** Separates the hash that makes a nonce from every other use of the hash. */
const NONCE_PREFIX = new Uint8Array(64).fill(0xff);

export interface Signatures {
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** `privateKey` is the place of a number from 1 to q − 1, and stays as it is. */
  sign(privateKey: number, message: Uint8Array, random: Random): Uint8Array;
}

export interface SignatureParts {
  readonly engine: Engine;
  readonly limbs: Limbs;
  readonly scalars: Scalars;
  readonly group: Group;
  readonly multiples: Multiples;
  readonly streebog: Streebog;
}

export function createSignatures(parts: SignatureParts): Signatures {
  const { engine, limbs, scalars, group, streebog } = parts;
  const numbers = (count: number) =>
    Array.from({ length: count }, () => engine.reserve(ELEMENT_BYTES));
  const [s, r, e, high, nonce] = numbers(5) as Five;
  const point = engine.reserve(POINT_BYTES);
  const multiplyAndAdd = createDoubleMultiplication(parts, point);
  const hasX = createXTest(parts, point);

  /** e: the hash modulo q, or 1 instead of 0. */
  function putHash(message: Uint8Array): void {
    limbs.putLittleEndian(e, streebog.hash256(message));
    scalars.reduce(e, e);
    if (limbs.isZero(e)) limbs.putInteger(e, 1n);
  }

  /** False unless 0 < number < q. */
  function putPart(at: number, bytes: Uint8Array): boolean {
    limbs.putBigEndian(at, bytes);
    return !limbs.isZero(at) && isBelowOrder(limbs.words(at));
  }

  return {
    verify(publicKey, message, signature) {
      if (!putPart(s, signature.subarray(0, NUMBER_BYTES))) return false;
      if (!putPart(r, signature.subarray(NUMBER_BYTES))) return false;
      const table = parts.multiples.ofKey(publicKey);
      if (table === undefined) return false;
      putHash(message);
      scalars.invert(e, e);
      scalars.multiply(s, s, e);
      scalars.multiply(e, e, r);
      multiplyAndAdd(limbs.words(s).slice(), limbs.words(e), table);
      return hasX(r);
    },

    sign(privateKey, message, random) {
      const secret = limbs.takeLittleEndian(privateKey);
      for (;;) {
        const noise = random.bytes(NOISE_SIZE);
        const wide = streebog.hash512(NONCE_PREFIX, secret, noise, message);
        limbs.putLittleEndian(nonce, wide);
        limbs.putLittleEndian(high, wide.subarray(NUMBER_BYTES));
        scalars.reduceWide(nonce, nonce, high);
        group.multiplySecretly(point, group.base, nonce);
        if (limbs.isZero(nonce)) continue;
        group.normalize(r, high, point);
        scalars.reduce(r, r);
        putHash(message);
        scalars.multiply(s, r, privateKey);
        scalars.multiply(e, e, nonce);
        scalars.add(s, s, e);
        if (limbs.isZero(s) || limbs.isZero(r)) continue;
        limbs.putInteger(nonce, 0n);
        secret.fill(0);
        return concat(limbs.takeBigEndian(s), limbs.takeBigEndian(r));
      }
    },
  };
}

type Five = [number, number, number, number, number];

const wordsOf = (value: bigint) =>
  Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(32 * i)) & 0xffff_ffffn));
const isBelow = (limit: readonly number[]) => (words: Uint32Array) => {
  for (let i = limit.length - 1; i >= 0; i--) {
    if (words[i] !== limit[i]) return words[i]! < limit[i]!;
  }
  return false;
};
const isBelowOrder = isBelow(wordsOf(Q));
const isBelowGap = isBelow(wordsOf(P - Q));

/** Whether the x of the point is this number modulo q; the number may change. */
function createXTest(
  { engine, limbs, group }: SignatureParts,
  point: number,
): (number: number) => boolean {
  const { run } = engine;
  const order = engine.reserve(ELEMENT_BYTES);
  const difference = engine.reserve(ELEMENT_BYTES);
  limbs.putInteger(order, Q);

  function isX(value: number): boolean {
    run.multiply(difference, value, point + 2 * ELEMENT_BYTES);
    run.subtract(difference, point, difference);
    run.canonical(difference, difference);
    return limbs.isZero(difference);
  }

  return (number) => {
    if (group.isNeutral(point)) return false;
    if (isX(number)) return true;
    // x is below p, which is a little above q.
    if (!isBelowGap(limbs.words(number))) return false;
    run.addScalars(number, number, order);
    return isX(number);
  };
}

/**
 * Puts a·G − b·K at `target`, K being the key whose table is given. Its time depends on the numbers,
 * which are public.
 */
function createDoubleMultiplication(
  { engine, group, multiples }: SignatureParts,
  target: number,
): (a: Uint32Array, b: Uint32Array, keyTable: number) => void {
  const { run } = engine;
  const ofBase = new Int8Array(CHUNKS * CHUNK_DIGITS);
  const ofKey = new Int8Array(CHUNKS * CHUNK_DIGITS);
  const opposite = engine.reserve(AFFINE_BYTES);
  const memory = new Uint8Array(engine.memory);

  function addMultiple(table: number, digit: number): void {
    const entry = table + (Math.abs(digit) >> 1) * AFFINE_BYTES;
    if (digit > 0) {
      run.addAffine(target, target, entry);
      return;
    }
    memory.copyWithin(opposite, entry, entry + ELEMENT_BYTES);
    group.negate(opposite + ELEMENT_BYTES, entry + ELEMENT_BYTES);
    run.addAffine(target, target, opposite);
  }

  return (a, b, keyTable) => {
    // First, because the words are overwritten by the next conversion.
    recode(ofBase, a, BASE_WIDTH);
    recode(ofKey, b, KEY_WIDTH);
    const baseTable = multiples.base();
    group.setNeutral(target);
    let isNeutral = true;
    for (let place = CHUNK_DIGITS - 1; place >= 0; place--) {
      if (!isNeutral) run.doublePoint(target, target);
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        const forBase = ofBase[CHUNK_DIGITS * chunk + place]!;
        const forKey = -ofKey[CHUNK_DIGITS * chunk + place]!;
        if (forBase !== 0) addMultiple(baseTable + chunk * BASE_CHUNK_BYTES, forBase);
        if (forKey !== 0) addMultiple(keyTable + chunk * KEY_CHUNK_BYTES, forKey);
        isNeutral &&= forBase === 0 && forKey === 0;
      }
    }
  };
}

const BASE_CHUNK_BYTES = 2 ** (BASE_WIDTH - 2) * AFFINE_BYTES;
const KEY_CHUNK_BYTES = 2 ** (KEY_WIDTH - 2) * AFFINE_BYTES;
