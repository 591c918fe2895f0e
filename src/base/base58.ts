/**
 * Base58 with the Bitcoin alphabet, the text form of ids, keys, signatures and addresses.
 *
 * Keys and ids (up to 256 bytes) go through doubles, which are exact below 2^53. Encoding adds up
 * table rows: byte pairs (2^16) times powers of 2^16, which the table holds in fives of digits
 * (58^5 < 2^30), are below 2^46, and so are 128 of them below 2^53: carries wait until the end.
 * Decoding is Horner's rule from four digits (58^4) to limbs of three bytes (2^24). Both take
 * quadratic time, so longer strings are halved recursively and use the multiplication of BigInt.
 */

import { latin1Part } from './bytes.ts';
import { ExpectedError } from './faults/expected-error.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ZERO = '1';
const ZERO_CODE = ZERO.charCodeAt(0);
const BASE = 58;
const BASE_2 = BASE ** 2;
const BASE_3 = BASE ** 3;
const BASE_4 = BASE ** 4;
const BASE_5 = BASE ** 5;
const TWO_BYTES = 2 ** 16;
const THREE_BYTES = 2 ** 24;

/**
 * The longest text that `decode` takes unless the caller sets another limit; enough for 740 bytes.
 */
export const BASE58_TEXT_LENGTH_MAX = 1024;

/** Above this size (bytes, and digits likewise) BigInt is faster, and sums would not be exact. */
const LIMBS_SIZE_MAX = 256;
const limbs = new Float64Array(LIMBS_SIZE_MAX);
const scratch = Buffer.alloc(LIMBS_SIZE_MAX * 2);

/** Value of each ASCII character, -1 for those outside the alphabet. */
const digitOf = new Int8Array(128).fill(-1);
/** The two characters of each number below 58², as two bytes. */
const pairCodes = new Uint16Array(BASE_2);
for (let high = 0; high < BASE; high++) {
  digitOf[ALPHABET.charCodeAt(high)] = high;
  for (let low = 0; low < BASE; low++) {
    pairCodes[high * BASE + low] = ALPHABET.charCodeAt(high) | (ALPHABET.charCodeAt(low) << 8);
  }
}

export class Base58Error extends ExpectedError {
  override name = 'Base58Error';
}

export const base58 = { encode, decode };

const DIGITS_ONLY = new RegExp(`^[${ALPHABET}]+$`);

/** True where the text is not empty and has no character outside the alphabet. */
export const isBase58 = (text: string): boolean => DIGITS_ONLY.test(text);

/** Powers of 2^16 in base 58^5, least limb first; the table grows as they are needed. */
const POWERS_MAX = LIMBS_SIZE_MAX / 2;
const POWER_WIDTH = 71;
const powers = new Float64Array(POWERS_MAX * POWER_WIDTH);
const powerLengths = new Uint8Array(POWERS_MAX);
let powersKnown = 1;
powers[0] = 1;
powerLengths[0] = 1;

function learnPowers(count: number): void {
  for (; powersKnown < count; powersKnown++) {
    const last = (powersKnown - 1) * POWER_WIDTH;
    const next = powersKnown * POWER_WIDTH;
    let length = powerLengths[powersKnown - 1]!;
    let carry = 0;
    for (let i = 0; i < length; i++) {
      const value = powers[last + i]! * TWO_BYTES + carry;
      carry = Math.floor(value / BASE_5);
      powers[next + i] = value - carry * BASE_5;
    }
    if (carry > 0) powers[next + length++] = carry;
    powerLengths[powersKnown] = length;
  }
}

function encode(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length > LIMBS_SIZE_MAX) return encodeLong(bytes);
  let zeros = 0;
  while (zeros < length && bytes[zeros] === 0) zeros++;
  if (zeros === length) return ZERO.repeat(zeros);

  const pairs = (length - zeros + 1) >> 1;
  learnPowers(pairs);
  const fives = powerLengths[pairs - 1]! + 1;
  limbs.fill(0, 0, fives);
  // Two rows at a time read and write each sum once; a row ends with zeros, so the longer decides.
  for (let power = 0, at = length - 1; at >= zeros; power += 2, at -= 4) {
    const low = pairAt(bytes, at, zeros);
    const high = pairAt(bytes, at - 2, zeros);
    const row = power * POWER_WIDTH;
    const next = row + POWER_WIDTH;
    const width = high === 0 ? powerLengths[power]! : powerLengths[power + 1]!;
    for (let i = 0; i < width; i++) {
      limbs[i] = limbs[i]! + low * powers[row + i]! + high * powers[next + i]!;
    }
  }

  const end = zeros + 5 * fives;
  let carry = 0;
  for (let i = 0, at = end - 5; i < fives; i++, at -= 5) {
    const value = limbs[i]! + carry;
    carry = Math.floor(value / BASE_5);
    // As an integer, it is divided by constants without a division.
    const five = (value - carry * BASE_5) | 0;
    const high = (five / BASE_3) | 0;
    const low = five - high * BASE_3;
    const middle = (low / BASE) | 0;
    const first = pairCodes[high]!;
    const second = pairCodes[middle]!;
    scratch[at] = first;
    scratch[at + 1] = first >> 8;
    scratch[at + 2] = second;
    scratch[at + 3] = second >> 8;
    scratch[at + 4] = pairCodes[low - middle * BASE]! >> 8;
  }
  // The top limb may begin with zero digits; exactly `zeros` of them belong to the text.
  let start = zeros;
  while (scratch[start] === ZERO_CODE) start++;
  scratch.fill(ZERO_CODE, start - zeros, start);
  return latin1Part(scratch, start - zeros, end);
}

/** The two bytes that end at `at`; those before `from` are zeros. */
const pairAt = (bytes: Uint8Array, at: number, from: number): number =>
  at > from ? bytes[at]! | (bytes[at - 1]! << 8) : at === from ? bytes[at]! : 0;

/** Throws Base58Error for a character outside the alphabet and for more than `lengthMax`. */
function decode(text: string, lengthMax = BASE58_TEXT_LENGTH_MAX): Uint8Array {
  const length = text.length;
  if (length > lengthMax) {
    throw new Base58Error(`Base58 string is too long: max=${lengthMax}, actual: ${length}`);
  }
  if (length > LIMBS_SIZE_MAX) return decodeLong(text);
  let zeros = 0;
  while (zeros < length && text.charCodeAt(zeros) === ZERO_CODE) zeros++;

  let used = 0;
  let at = zeros + ((length - zeros) & 3);
  if (at > zeros) {
    let first = 0;
    for (let i = zeros; i < at; i++) first = first * BASE + digit(text, i);
    limbs[used++] = first;
  }
  for (; at < length; at += 4) {
    const high = digit(text, at) * BASE + digit(text, at + 1);
    let carry = high * BASE_2 + digit(text, at + 2) * BASE + digit(text, at + 3);
    for (let i = 0; i < used; i++) {
      const value = limbs[i]! * BASE_4 + carry;
      carry = Math.floor(value / THREE_BYTES);
      limbs[i] = value - carry * THREE_BYTES;
    }
    if (carry > 0) limbs[used++] = carry;
  }

  const top = used === 0 ? 0 : limbs[used - 1]!;
  const topBytes = top > 0xffff ? 3 : top > 0xff ? 2 : top > 0 ? 1 : 0;
  const bytes = new Uint8Array(zeros + (used === 0 ? 0 : (used - 1) * 3 + topBytes));
  let end = bytes.length;
  for (let i = 0; i < used - 1; i++) {
    const limb = limbs[i]!;
    bytes[end - 1] = limb;
    bytes[end - 2] = limb >> 8;
    bytes[end - 3] = limb >> 16;
    end -= 3;
  }
  for (let rest = top; end > zeros; rest >>= 8) bytes[--end] = rest;
  return bytes;
}

function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const value = code < 128 ? digitOf[code]! : -1;
  if (value < 0) throw new Base58Error(`Wrong char '${text[at]}' in Base58 string`);
  return value;
}

function encodeLong(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  if (zeros === bytes.length) return ZERO.repeat(zeros);
  const source = Buffer.from(bytes.buffer, bytes.byteOffset + zeros, bytes.length - zeros);
  const value = BigInt(`0x${source.toString('hex')}`);
  // log 256 / log 58 digits a byte.
  const digits = Math.ceil(source.length * 1.3658) + 1;
  const text = digitsOf(value, digits, new Units());
  let start = 0;
  while (text.charCodeAt(start) === ZERO_CODE) start++;
  return ZERO.repeat(zeros) + text.slice(start);
}

/** `value` in exactly `digits` digits. */
function digitsOf(value: bigint, digits: number, units: Units): string {
  if (digits <= LEAF_DIGITS) return encode(bytesOfInteger(value)).padStart(digits, ZERO);
  const low = digits >> 1;
  const unit = units.of(low);
  const high = value / unit;
  return digitsOf(high, digits - low, units) + digitsOf(value - high * unit, low, units);
}

/** So many digits stand for less than LIMBS_SIZE_MAX bytes. */
const LEAF_DIGITS = 340;

/** Powers of 58. Parts of one text have few lengths. */
class Units {
  private readonly known = new Map<number, bigint>();

  of(digits: number): bigint {
    const unit = this.known.get(digits) ?? BigInt(BASE) ** BigInt(digits);
    this.known.set(digits, unit);
    return unit;
  }
}

/** Without leading zeros; zero has no bytes. */
function bytesOfInteger(value: bigint): Buffer {
  if (value === 0n) return Buffer.alloc(0);
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

function decodeLong(text: string): Uint8Array {
  let zeros = 0;
  while (zeros < text.length && text.charCodeAt(zeros) === ZERO_CODE) zeros++;
  if (zeros === text.length) return new Uint8Array(zeros);
  const source = bytesOfInteger(integerOf(text, zeros, text.length, new Units()));
  const bytes = new Uint8Array(zeros + source.length);
  bytes.set(source, zeros);
  return bytes;
}

function integerOf(text: string, start: number, end: number, units: Units): bigint {
  if (end - start <= LIMBS_SIZE_MAX) {
    const bytes = decode(text.slice(start, end));
    return BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
  }
  const low = (end - start) >> 1;
  const high = integerOf(text, start, end - low, units);
  return high * units.of(low) + integerOf(text, end - low, end, units);
}
