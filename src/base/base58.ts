/**
 * Base58 with the Bitcoin alphabet, the text form of ids, keys, signatures and addresses.
 *
 * Keys and ids (up to 256 bytes) go through machine numbers: limbs of four digits (58^4) one way,
 * of three bytes (2^24) the other. One step multiplies a limb by less than 2^24 and adds less than
 * 2^24, which stays below 2^53, so doubles are exact. That is quadratic, hence longer strings are
 * halved recursively and left to the multiplication of BigInt.
 */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ZERO = '1';
const ZERO_CODE = ZERO.charCodeAt(0);
const BASE = 58;
const BASE_2 = BASE ** 2;
const BASE_4 = BASE ** 4;
const THREE_BYTES = 2 ** 24;

/** The longest text `decode` takes unless the caller knows better; enough for 740 bytes. */
export const BASE58_TEXT_LENGTH_MAX = 1024;

/** Above this size (bytes, and digits likewise) BigInt is faster than limbs. */
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

export class Base58Error extends Error {
  override name = 'Base58Error';
}

export const base58 = { encode, decode };

function encode(bytes: Uint8Array): string {
  if (bytes.length > LIMBS_SIZE_MAX) return encodeLong(bytes);
  const length = bytes.length;
  let zeros = 0;
  while (zeros < length && bytes[zeros] === 0) zeros++;

  let used = 0;
  let at = zeros + ((length - zeros) % 3);
  if (at > zeros) {
    let first = 0;
    for (let i = zeros; i < at; i++) first = first * 256 + bytes[i]!;
    limbs[used++] = first;
  }
  for (; at < length; at += 3) {
    let carry = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    for (let i = 0; i < used; i++) {
      const value = limbs[i]! * THREE_BYTES + carry;
      carry = Math.floor(value / BASE_4);
      limbs[i] = value - carry * BASE_4;
    }
    // The carry is below 2^24 and a limb holds less than that, so it may fill two.
    while (carry > 0) {
      const next = Math.floor(carry / BASE_4);
      limbs[used++] = carry - next * BASE_4;
      carry = next;
    }
  }

  let end = zeros;
  for (let i = used - 1; i >= 0; i--) {
    const limb = limbs[i]!;
    const high = (limb / BASE_2) | 0;
    const first = pairCodes[high]!;
    const second = pairCodes[limb - high * BASE_2]!;
    scratch[end] = first;
    scratch[end + 1] = first >> 8;
    scratch[end + 2] = second;
    scratch[end + 3] = second >> 8;
    end += 4;
  }
  // The top limb may begin with zero digits; exactly `zeros` of them belong to the text.
  let start = zeros;
  while (start < end && scratch[start] === ZERO_CODE) start++;
  scratch.fill(ZERO_CODE, start - zeros, start);
  return scratch.toString('latin1', start - zeros, end);
}

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
  const text = digitsOf(value, digits);
  let start = 0;
  while (text.charCodeAt(start) === ZERO_CODE) start++;
  return ZERO.repeat(zeros) + text.slice(start);
}

/** `value` in exactly `digits` digits. */
function digitsOf(value: bigint, digits: number): string {
  if (digits <= 8) {
    let rest = Number(value);
    let text = '';
    for (let i = 0; i < digits; i++) {
      text = ALPHABET[rest % BASE] + text;
      rest = Math.floor(rest / BASE);
    }
    return text;
  }
  const low = digits >> 1;
  const unit = BigInt(BASE) ** BigInt(low);
  const high = value / unit;
  return digitsOf(high, digits - low) + digitsOf(value - high * unit, low);
}

function decodeLong(text: string): Uint8Array {
  let zeros = 0;
  while (zeros < text.length && text.charCodeAt(zeros) === ZERO_CODE) zeros++;
  if (zeros === text.length) return new Uint8Array(zeros);
  const digits = integerOf(text, zeros, text.length).toString(16);
  const source = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  const bytes = new Uint8Array(zeros + source.length);
  bytes.set(source, zeros);
  return bytes;
}

function integerOf(text: string, start: number, end: number): bigint {
  if (end - start <= 8) {
    let value = 0;
    for (let i = start; i < end; i++) value = value * BASE + digit(text, i);
    return BigInt(value);
  }
  const low = (end - start) >> 1;
  const high = integerOf(text, start, end - low);
  return high * BigInt(BASE) ** BigInt(low) + integerOf(text, end - low, end);
}
