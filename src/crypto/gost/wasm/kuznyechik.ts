/**
 * The block cipher Kuznyechik (GOST R 34.12-2015, RFC 7801) in WebAssembly, in the direction that
 * the counter mode needs. Substitution and linear transformation of a byte are one look-up in tables
 * of 64 KiB together. As in streebog.ts, look-ups depend on the data.
 */

import {
  type Assembler,
  type Code,
  doWhile,
  get,
  i32,
  i64,
  set,
  v128,
} from '../../wasm/assembler.ts';
import { KUZNYECHIK_COEFFICIENTS, KUZNYECHIK_POLYNOMIAL, SUBSTITUTION } from '../constants.ts';

export const CIPHER_BLOCK_BYTES = 16;
export const KUZNYECHIK_TABLE_BYTES = 16 * 256 * 16;
/** The keys of ten rounds. */
export const ROUND_KEY_BYTES = 10 * CIPHER_BLOCK_BYTES;

/** For each place of a byte and each byte: what it contributes to a block. */
export function kuznyechikTables(): Uint8Array {
  const tables = new Uint32Array(KUZNYECHIK_TABLE_BYTES / 4);
  for (let place = 0; place < 16; place++) {
    const images = imagesAt(place);
    for (let byte = 0; byte < 256; byte++) {
      const image = 4 * SUBSTITUTION[byte]!;
      tables.set(images.subarray(image, image + 4), 4 * (256 * place + byte));
    }
  }
  return new Uint8Array(tables.buffer);
}

/** L of the blocks that are 0 but for the byte at one place, for each byte. */
function imagesAt(place: number): Uint32Array {
  const images = new Uint32Array(4 * 256);
  // L is linear over the field, so the image of the byte 1 suffices.
  const unit = linear(new Uint8Array(16).fill(1, place, place + 1));
  for (let byte = 1; byte < 256; byte++) {
    const others = byte & (byte - 1);
    const bit = byte ^ others;
    if (others === 0) {
      const image = unit.map((one) => product(one, bit));
      images.set(new Uint32Array(image.buffer), 4 * byte);
    } else {
      for (let i = 0; i < 4; i++) {
        images[4 * byte + i] = images[4 * others + i]! ^ images[4 * bit + i]!;
      }
    }
  }
  return images;
}

/** L: sixteen steps of a shift register. */
export function linear(block: Uint8Array): Uint8Array<ArrayBuffer> {
  const state = Uint8Array.from(block);
  for (let step = 0; step < 16; step++) {
    let first = 0;
    for (let i = 0; i < 16; i++) first ^= product(KUZNYECHIK_COEFFICIENTS[i]!, state[i]!);
    state.copyWithin(1, 0);
    state[0] = first;
  }
  return state;
}

function product(a: number, b: number): number {
  let sum = 0;
  let shifted = a;
  for (let bits = b; bits > 0; bits >>= 1) {
    if (bits & 1) sum ^= shifted;
    shifted <<= 1;
    if (shifted & 0x100) shifted ^= KUZNYECHIK_POLYNOMIAL;
  }
  return sum;
}

export interface KuznyechikPlaces {
  readonly tables: number;
  readonly roundKeys: number;
}

export function defineKuznyechik(module: Assembler, places: KuznyechikPlaces): void {
  // (target, source): one block under the round keys.
  module.define('encryptBlock', 2, (scope) => {
    const state = scope.local('v128');
    const halves = scope.locals('i64', 2);
    const roundKey = (round: number) => v128.load(i32.const(places.roundKeys), 16 * round);
    return [
      ...set(state, v128.xor(v128.load(get(1), 0), roundKey(0))),
      ...Array.from({ length: 9 }, (_, i) => [
        ...set(halves[0]!, v128.half(get(state), 0)),
        ...set(halves[1]!, v128.half(get(state), 1)),
        ...set(state, v128.xor(transformed(halves, places.tables), roundKey(i + 1))),
      ]).flat(),
      ...v128.store(get(0), 0, get(state)),
    ];
  });

  // (target, source): LS of a block, for the schedule of the keys.
  module.define('transformBlock', 2, (scope) => {
    const halves = scope.locals('i64', 2);
    return [
      ...halves.flatMap((half, i) => set(half, i64.load(get(1), 8 * i))),
      ...v128.store(get(0), 0, transformed(halves, places.tables)),
    ];
  });

  // (data, blocks, counter, scratch): counter mode over whole blocks, at least one. The counter is
  // the second half of a block, big-endian; it never reaches 2^32.
  module.define('encryptCounter', 4, (scope) => {
    const number = scope.local('i32');
    const body = [
      ...module.call('encryptBlock', get(3), get(2)),
      ...v128.store(get(0), 0, v128.xor(v128.load(get(0), 0), v128.load(get(3), 0))),
      ...set(number, i32.add(i32.byteSwapped(i32.load(get(2), 12)), i32.const(1))),
      ...i32.store(get(2), 12, i32.byteSwapped(get(number))),
      ...set(0, i32.add(get(0), i32.const(CIPHER_BLOCK_BYTES))),
      ...set(1, i32.sub(get(1), i32.const(1))),
    ];
    return doWhile(body, get(1));
  });
}

function transformed(halves: readonly number[], tables: number): Code {
  return Array.from({ length: 16 }, (_, place) => {
    const half = get(halves[place >> 3]!);
    const at = place & 7;
    const shifted = at === 0 ? i64.shiftLeft(half, 4) : i64.shiftRight(half, 8 * at - 4);
    return v128.load(i32.and(i32.wrap(shifted), i32.const(0xff0)), tables + 4096 * place);
  }).reduce((a, b) => v128.xor(a, b));
}
