/**
 * The compression of Streebog (GOST R 34.11-2012, RFC 6986) in WebAssembly. Substitution, permutation
 * and linear transformation of eight bytes are one look-up each in tables of 16 KiB together.
 *
 * The address of a look-up depends on the data, so the time of a hash may depend on it through the
 * processor's cache; accounts.md#secrets-and-time says what that means for secrets.
 */

import { type Assembler, type Code, doWhile, get, i32, i64, set } from '../../wasm/assembler.ts';
import { STREEBOG_MATRIX, SUBSTITUTION } from '../constants.ts';

export const BLOCK_BYTES = 64;
export const STREEBOG_TABLE_BYTES = 8 * 256 * 8;
const ROUNDS = 12;

const WORDS = 8;
const words = Array.from({ length: WORDS }, (_, i) => i);

/** For each place of a byte and each byte: what it contributes to a word. */
export function streebogTables(): BigUint64Array {
  const tables = new BigUint64Array(8 * 256);
  for (let place = 0; place < 8; place++) {
    for (const [byte, substitute] of SUBSTITUTION.entries()) {
      let word = 0n;
      for (let bit = 0; bit < 8; bit++) {
        if ((substitute >> bit) & 1) word ^= STREEBOG_MATRIX[63 - 8 * place - bit]!;
      }
      tables[256 * place + byte] = word;
    }
  }
  return tables;
}

export interface StreebogPlaces {
  readonly tables: number;
  /** The constants of the rounds. */
  readonly rounds: number;
}

export function defineStreebog(module: Assembler, places: StreebogPlaces): void {
  defineCompress(module, places);
  defineAbsorb(module);
}

function defineCompress(module: Assembler, { tables, rounds }: StreebogPlaces): void {
  // (state, count, block): mixes a block into the state, `count` being the number of bits before it.
  module.define('compress', 3, (scope) => {
    const key = scope.locals('i64', WORDS);
    const data = scope.locals('i64', WORDS);
    const mixed = scope.locals('i64', WORDS);
    const round = scope.local('i32');
    const byteOf = (word: number, at: number): Code => {
      // Shifted so that the byte counts the eight bytes of an entry.
      const shifted =
        at === 0 ? i64.shiftLeft(get(word), 3) : i64.shiftRight(get(word), 8 * at - 3);
      return i32.and(i32.wrap(shifted), i32.const(0x7f8));
    };
    const transformed = (source: readonly number[], at: number): Code =>
      source
        .map((word, place) => i64.load(byteOf(word, at), tables + 2048 * place))
        .reduce((a, b) => i64.xor(a, b));
    const transform = (target: readonly number[], source: readonly number[]): Code =>
      target.flatMap((local, at) => set(local, transformed(source, at)));
    const xorInto = (target: readonly number[], other: (i: number) => Code): Code =>
      target.flatMap((local, i) => set(local, i64.xor(get(local), other(i))));
    const copy = (target: readonly number[], source: readonly number[]): Code =>
      target.flatMap((local, i) => set(local, get(source[i]!)));
    /** target = transform(target xor other) */
    const step = (target: readonly number[], other: (i: number) => Code): Code => [
      ...xorInto(target, other),
      ...transform(mixed, target),
      ...copy(target, mixed),
    ];
    const loop = [
      ...step(data, (i) => get(key[i]!)),
      ...step(key, (i) => i64.load(get(round), 8 * i)),
      ...set(round, i32.add(get(round), i32.const(BLOCK_BYTES))),
    ];
    return [
      ...words.flatMap((i) => set(key[i]!, i64.load(get(0), 8 * i))),
      ...step(key, (i) => i64.load(get(1), 8 * i)),
      ...words.flatMap((i) => set(data[i]!, i64.load(get(2), 8 * i))),
      ...set(round, i32.const(rounds)),
      ...doWhile(loop, i32.lessUnsigned(get(round), i32.const(rounds + ROUNDS * BLOCK_BYTES))),
      ...words.flatMap((i) =>
        i64.store(
          get(0),
          8 * i,
          [get(data[i]!), get(key[i]!), i64.load(get(0), 8 * i), i64.load(get(2), 8 * i)].reduce(
            (a, b) => i64.xor(a, b),
          ),
        ),
      ),
    ];
  });
}

function defineAbsorb(module: Assembler): void {
  // (sponge, data, blocks): state, count of bits and sum of blocks, one after the other, take in
  // whole blocks, at least one.
  module.define('absorb', 3, (scope) => {
    const carry = scope.local('i64');
    const at = (part: number) => i32.add(get(0), i32.const(part * BLOCK_BYTES));
    const sum = 2 * BLOCK_BYTES;
    const body = [
      ...module.call('compress', get(0), at(1), get(1)),
      ...i64.store(
        get(0),
        BLOCK_BYTES,
        i64.add(i64.load(get(0), BLOCK_BYTES), i64.const(8n * BigInt(BLOCK_BYTES))),
      ),
      ...set(carry, i64.const(0n)),
      ...Array.from({ length: 16 }, (_, i) => [
        ...set(
          carry,
          i64.add(
            i64.shiftRight(get(carry), 32),
            i64.add(i64.load32(get(0), sum + 4 * i), i64.load32(get(1), 4 * i)),
          ),
        ),
        ...i64.store32(get(0), sum + 4 * i, get(carry)),
      ]).flat(),
      ...set(1, i32.add(get(1), i32.const(BLOCK_BYTES))),
      ...set(2, i32.sub(get(2), i32.const(1))),
    ];
    return doWhile(body, get(2));
  });
}
