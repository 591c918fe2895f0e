/**
 * The width-w non-adjacent form of a number in four chunks of 64 bits: digits are 0 or odd, and below
 * 2^(w−1) in size. It serves the check of signatures, where nothing is secret: few digits are not 0.
 */

export const CHUNKS = 4;
/** A chunk may carry into one more digit. */
export const CHUNK_DIGITS = 65;

/** `words` has eight words, the lowest first; `digits` has room for the digits of all chunks. */
export function recode(digits: Int8Array, words: Uint32Array, width: number): void {
  digits.fill(0);
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    recodeChunk(digits, CHUNK_DIGITS * chunk, words[2 * chunk]!, words[2 * chunk + 1]!, width);
  }
}

function recodeChunk(
  digits: Int8Array,
  at: number,
  low: number,
  high: number,
  width: number,
): void {
  let carry = 0;
  for (let place = 0; place < CHUNK_DIGITS; ) {
    if (bits(low, high, place, 1) === carry) {
      place += 1;
      continue;
    }
    const count = Math.min(width, CHUNK_DIGITS - place);
    const word = bits(low, high, place, count) + carry;
    carry = (word >>> (width - 1)) & 1;
    digits[at + place] = word - (carry << width);
    place += count;
  }
}

/** Bits above the 64th are 0. */
function bits(low: number, high: number, place: number, count: number): number {
  const mask = 2 ** count - 1;
  if (place >= 64) return 0;
  if (place >= 32) return (high >>> (place - 32)) & mask;
  const above = place + count > 32 ? high << (32 - place) : 0;
  return ((low >>> place) | above) & mask;
}
