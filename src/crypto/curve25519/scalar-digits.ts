/**
 * The width-w non-adjacent form of a scalar: digits that are 0 or odd, and below 2^(w−1) in size, of
 * which few are not 0. It serves the check of signatures, where nothing is secret.
 */

export const SCALAR_DIGITS = 256;

/** `words` is a number below 2^253 in eight words, the lowest first. */
export function recodeScalar(digits: Int8Array, words: Uint32Array, width: number): void {
  digits.fill(0);
  const mask = 2 ** width - 1;
  let carry = 0;
  for (let place = 0; place < SCALAR_DIGITS; ) {
    const at = place >> 5;
    const shift = place & 31;
    const low = words[at]! >>> shift;
    if ((low & 1) === carry) {
      place += 1;
      continue;
    }
    const above = shift + width > 32 && at < 7 ? words[at + 1]! << (32 - shift) : 0;
    const word = ((low | above) & mask) + carry;
    carry = word >> (width - 1);
    digits[place] = word - (carry << width);
    place += width;
  }
}
